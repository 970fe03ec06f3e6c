-- uses: orders
SELECT who FROM orders UNION SELECT item FROM orders;
