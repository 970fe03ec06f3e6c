-- uses: orders
-- modes: batch
SELECT id, RANK() OVER (PARTITION BY who ORDER BY amount) AS r, DENSE_RANK() OVER (PARTITION BY who ORDER BY amount) AS d, ROW_NUMBER() OVER (PARTITION BY who ORDER BY amount, id) AS n FROM orders;
SELECT id, RANK() OVER (ORDER BY amount DESC) AS r, DENSE_RANK() OVER (ORDER BY amount DESC) AS d FROM orders;
SELECT id, NTILE(3) OVER (ORDER BY id) AS n, NTILE(2) OVER (PARTITION BY who ORDER BY id) AS m FROM orders;
SELECT who, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, COUNT(*) AS c FROM orders GROUP BY who;
SELECT * FROM (SELECT id, who, RANK() OVER (PARTITION BY who ORDER BY amount DESC) AS r FROM orders) WHERE r <= 2;
