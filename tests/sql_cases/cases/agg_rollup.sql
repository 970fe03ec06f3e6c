-- uses: orders
SELECT who, item, SUM(amount) FROM orders GROUP BY ROLLUP (who, item);
