-- uses: orders
SELECT item, COUNT(*) FROM orders GROUP BY GROUPING SETS ((item), (item));
SELECT item, GROUP_ID(), GROUPING(item), COUNT(*) FROM orders GROUP BY GROUPING SETS ((item), (item), (), (who), ());
