-- uses: orders
SELECT PERCENTILE(amount, 0.5) AS p, PERCENTILE(amount, 0.3) AS q, PERCENTILE(price, 0.9) AS r, PERCENTILE(amount, 0) AS a, PERCENTILE(amount, 1) AS z FROM orders;
SELECT who, PERCENTILE(amount, 0.25) AS p FROM orders GROUP BY who;
SELECT PERCENTILE(amount, ARRAY[0.25, 0.75]) AS p FROM orders;
SELECT PERCENTILE(amount, 0.5, amount) AS p FROM orders;
SELECT PERCENTILE(amount, 0.5) AS p FROM orders WHERE id > 100;
