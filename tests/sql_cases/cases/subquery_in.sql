-- uses: orders, customers
SELECT id FROM orders WHERE who IN (SELECT name FROM customers WHERE city = 'Graz');
