-- uses: orders
-- modes: streaming
SELECT id, SUM(amount) OVER (PARTITION BY who ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS r FROM orders;
