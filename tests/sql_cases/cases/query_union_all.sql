-- uses: orders
SELECT id FROM orders WHERE id < 3 UNION ALL SELECT amount FROM orders WHERE id > 9;
