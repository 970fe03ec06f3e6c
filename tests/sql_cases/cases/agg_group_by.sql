-- uses: orders
SELECT item, COUNT(*) AS n, SUM(amount) AS total, MIN(price), MAX(price), AVG(amount) FROM orders GROUP BY item;
