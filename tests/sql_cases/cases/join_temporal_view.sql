-- uses: payments, rate_history
-- modes: streaming
CREATE TEMPORARY VIEW latest AS SELECT currency, rate, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY ts DESC) AS rn FROM rate_history WHERE rate <> 1.12) WHERE rn = 1;
SELECT p.id, r.rate, r.ts FROM payments AS p LEFT JOIN latest FOR SYSTEM_TIME AS OF p.ts AS r ON p.currency = r.currency;
SELECT p.id, r.rate FROM payments AS p JOIN latest FOR SYSTEM_TIME AS OF p.ts AS r ON r.currency = p.currency;
