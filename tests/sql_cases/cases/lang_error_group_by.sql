-- uses: orders
SELECT who, item, COUNT(*) FROM orders GROUP BY who;
