-- uses: orders
SELECT SUM(COUNT(*)) FROM orders GROUP BY who;
