-- uses: payments, rates
-- modes: streaming
SELECT p.id FROM payments AS p JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON 'EUR' = r.currency;
