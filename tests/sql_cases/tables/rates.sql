CREATE TABLE rates (currency STRING, rate DECIMAL(6, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE,
  PRIMARY KEY (currency) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${data}/rates.csv', 'format' = 'csv');
