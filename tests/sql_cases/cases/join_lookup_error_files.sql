-- uses: payments, rates
-- modes: streaming
SELECT p.id, r.rate FROM (SELECT *, PROCTIME() AS now FROM payments) AS p
JOIN rates FOR SYSTEM_TIME AS OF p.now AS r ON p.currency = r.currency;
