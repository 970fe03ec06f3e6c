-- uses: orders
-- modes: streaming
SELECT id, LEAD(amount) OVER (PARTITION BY who ORDER BY ts) AS a FROM orders;
