-- uses: payments, rates
-- modes: streaming
CREATE TEMPORARY VIEW paid AS SELECT p.currency, p.amount * r.rate AS dollars, p.ts FROM payments AS p
  JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.currency = r.currency;
SELECT window_start, currency, SUM(dollars) AS dollars FROM TABLE(TUMBLE(TABLE paid, DESCRIPTOR(ts), INTERVAL '30' SECOND))
GROUP BY window_start, window_end, currency;
