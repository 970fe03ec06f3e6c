-- uses: orders
SELECT id, item FROM orders WHERE id < 3 UNION ALL SELECT price, who FROM orders WHERE id > 10;
