-- uses: orders
-- modes: batch
SELECT id, COUNT(*) OVER (ORDER BY amount RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING) AS v FROM orders;
