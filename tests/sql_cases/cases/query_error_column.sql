-- uses: orders
SELECT idd FROM orders;
