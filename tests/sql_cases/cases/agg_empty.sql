-- uses: orders
SELECT COUNT(*), SUM(amount) FROM orders WHERE id > 100;
