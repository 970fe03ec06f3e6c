-- uses: payments, rate_history
-- modes: streaming
SELECT p.id FROM payments AS p JOIN rate_history FOR SYSTEM_TIME AS OF p.ts AS r ON p.currency = r.currency;
