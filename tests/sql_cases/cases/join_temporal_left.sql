-- uses: payments, rates
-- modes: streaming
SELECT p.id, r.rate FROM payments AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.currency = r.currency;
