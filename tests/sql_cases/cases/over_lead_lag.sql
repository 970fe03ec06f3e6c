-- uses: orders
-- modes: batch
SELECT id, LAG(item) OVER (PARTITION BY who ORDER BY id) AS a, LEAD(item) OVER (PARTITION BY who ORDER BY id) AS b, LEAD(item, 2, 'none') OVER (PARTITION BY who ORDER BY id) AS c FROM orders;
SELECT id, LAG(amount, 0) OVER (ORDER BY id) AS a, LEAD(amount, -1) OVER (ORDER BY id) AS b FROM orders;
