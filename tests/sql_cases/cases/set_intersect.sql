-- uses: orders, customers
SELECT who FROM orders INTERSECT SELECT name FROM customers;
