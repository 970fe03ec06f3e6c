-- uses: orders
SELECT who, item, GROUPING(who), GROUPING_ID(who, item), COUNT(*), SUM(amount) FROM orders GROUP BY CUBE (who, item);
