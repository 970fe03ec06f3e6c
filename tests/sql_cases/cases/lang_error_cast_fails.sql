-- uses: orders
SELECT CAST(item AS INT) FROM orders;
