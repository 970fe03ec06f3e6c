-- uses: orders
SELECT who, item, COUNT(*) AS n, GROUPING(who) AS g, GROUPING_ID(who, item) AS gi FROM orders GROUP BY GROUPING SETS ((who, item), (who), ());
SELECT who, item, SUM(amount) AS s FROM orders GROUP BY CUBE (who, item) HAVING SUM(amount) > 3;
SELECT who, COUNT(*) AS n FROM orders GROUP BY ROLLUP (who) HAVING GROUPING(who) = 1 OR COUNT(*) > 2;
SELECT who, item, COUNT(DISTINCT amount) AS n FROM orders GROUP BY who, ROLLUP (item);
SELECT COUNT(*) AS n FROM orders HAVING COUNT(*) > 100;
SELECT COUNT(*) AS n FROM orders HAVING SUM(amount) > 10;
