-- uses: orders
SELECT item + 1 FROM orders;
