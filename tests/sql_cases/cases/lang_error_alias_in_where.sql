-- uses: orders
SELECT amount * 2 AS twice FROM orders WHERE twice > 4;
