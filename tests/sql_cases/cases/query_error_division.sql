-- uses: orders
SELECT 1 / (id - 3) FROM orders;
