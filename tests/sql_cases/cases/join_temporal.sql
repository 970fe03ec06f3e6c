-- uses: payments, rates
SELECT p.id, p.amount * r.rate AS dollars FROM payments AS p JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.currency = r.currency;
