-- uses: orders
SELECT who, item, COUNT(*), GROUPING(who) FROM orders GROUP BY GROUPING SETS ((who), (item), ());
