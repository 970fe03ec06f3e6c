-- uses: orders, customers
SELECT name FROM customers AS c WHERE EXISTS (SELECT * FROM orders AS o WHERE o.who = c.name AND o.amount > c.age / 10);
