-- uses: orders, customers
SELECT name FROM customers AS c WHERE NOT EXISTS (SELECT * FROM orders AS o WHERE o.who = c.name);
