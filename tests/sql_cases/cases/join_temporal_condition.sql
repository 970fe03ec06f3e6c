-- uses: payments, rates
-- modes: streaming
SELECT p.id, r.rate FROM payments AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r
ON p.currency = r.currency AND r.rate * p.amount > 6;
SELECT p.id, r.rate FROM (SELECT id, LOWER(currency) AS currency, ts FROM payments) AS p
JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON UPPER(p.currency) = r.currency AND r.rate > 1 AND p.id <> 3;
