-- uses: orders
SELECT who, COUNT(DISTINCT item), SUM(DISTINCT amount) FROM orders GROUP BY ROLLUP (who);
