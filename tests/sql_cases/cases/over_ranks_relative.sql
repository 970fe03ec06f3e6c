-- uses: orders
-- modes: batch
SELECT id, PERCENT_RANK() OVER (PARTITION BY who ORDER BY amount) AS r, CUME_DIST() OVER (PARTITION BY who ORDER BY id) AS c FROM orders;
