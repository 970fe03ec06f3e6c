-- uses: orders
SELECT who, item, COUNT(*) AS n FROM orders GROUP BY GROUPING SETS ((who), (item), (who, item)) HAVING COUNT(*) > 1;
