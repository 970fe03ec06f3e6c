-- uses: payments
-- modes: streaming
CREATE TABLE keyed (currency STRING, rate DECIMAL(6, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE,
  PRIMARY KEY (currency) NOT ENFORCED) WITH ('connector' = 'filesystem', 'path' = '${data}/rate_history.csv', 'format' = 'csv');
SELECT p.id, r.rate, r.ts FROM payments AS p LEFT JOIN keyed FOR SYSTEM_TIME AS OF p.ts AS r ON p.currency = r.currency;
