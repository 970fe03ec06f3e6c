-- uses: orders
SELECT who FROM orders WHERE COUNT(*) > 1 GROUP BY who;
