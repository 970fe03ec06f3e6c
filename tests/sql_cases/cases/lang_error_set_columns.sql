-- uses: orders
SELECT id, who FROM orders UNION SELECT id FROM orders;
