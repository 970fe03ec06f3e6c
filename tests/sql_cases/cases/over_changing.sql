-- uses: orders, products
-- modes: streaming
SELECT id, SUM(amount) OVER (PARTITION BY who ORDER BY amount) AS s, COUNT(*) OVER (PARTITION BY who ORDER BY amount) AS c FROM orders;
SELECT id, SUM(amount) OVER (PARTITION BY who ORDER BY amount ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM orders;
SELECT id, MIN(amount) OVER (PARTITION BY who ORDER BY price) AS c, LAST_VALUE(item) OVER (PARTITION BY who ORDER BY price) AS d FROM orders;
SELECT id, LAG(amount) OVER (PARTITION BY who ORDER BY id) AS r FROM orders;
SELECT id, ROW_NUMBER() OVER (PARTITION BY who ORDER BY id) AS r FROM orders;
SELECT id, SUM(weight) OVER (ORDER BY id) AS s FROM products;
SELECT name, SUM(weight) OVER (ORDER BY name) AS s, MAX(weight) OVER (ORDER BY name) AS m FROM products;
SELECT who, n, SUM(n) OVER (ORDER BY n) AS s FROM (SELECT who, COUNT(*) AS n FROM orders GROUP BY who);
SELECT id, SUM(SUM(amount)) OVER (ORDER BY id) AS s FROM orders GROUP BY id;
