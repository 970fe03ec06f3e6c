-- uses: orders
INSERT INTO nowhere SELECT id FROM orders;
