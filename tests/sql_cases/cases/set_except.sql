-- uses: orders, customers
SELECT name FROM customers EXCEPT SELECT who FROM orders;
