-- uses: orders
-- modes: streaming
SELECT id, SUM(amount) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS r FROM orders;
