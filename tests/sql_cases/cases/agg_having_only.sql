-- uses: orders
SELECT MAX(amount) FROM orders HAVING COUNT(*) > 100;
SELECT MAX(amount) FROM orders HAVING COUNT(*) > 3;
