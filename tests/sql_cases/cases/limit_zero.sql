-- uses: orders
SELECT id FROM orders LIMIT 0;
SELECT id FROM orders ORDER BY id LIMIT 2 OFFSET 100;
