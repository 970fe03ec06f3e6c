-- uses: orders
SELECT * FROM orders GROUP BY who;
