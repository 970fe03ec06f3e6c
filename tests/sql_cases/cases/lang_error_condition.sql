-- uses: orders
SELECT id FROM orders WHERE amount;
