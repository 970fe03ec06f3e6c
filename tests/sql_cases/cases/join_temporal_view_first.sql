-- uses: payments, rate_history
-- modes: streaming
CREATE TEMPORARY VIEW earliest AS SELECT currency, rate, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY ts ASC) AS rn FROM rate_history) WHERE rn = 1;
SELECT p.id, r.rate, r.ts FROM payments AS p LEFT JOIN earliest FOR SYSTEM_TIME AS OF p.ts AS r ON p.currency = r.currency;
