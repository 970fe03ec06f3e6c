-- uses: orders
SELECT id FROM orders WHERE amount > (SELECT AVG(amount) FROM orders);
