-- uses: orders
SELECT Id FROM orders;
