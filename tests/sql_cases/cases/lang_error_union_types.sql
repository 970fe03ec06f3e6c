-- uses: orders
SELECT id FROM orders UNION ALL SELECT item FROM orders;
