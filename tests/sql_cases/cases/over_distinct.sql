-- uses: orders
-- modes: streaming
SELECT id, COUNT(DISTINCT item) OVER (PARTITION BY who ORDER BY ts) AS c, SUM(DISTINCT amount) OVER (PARTITION BY who ORDER BY ts) AS d FROM orders;
