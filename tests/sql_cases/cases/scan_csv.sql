-- uses: orders
SELECT * FROM orders;
