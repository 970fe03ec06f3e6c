-- uses: orders, customers
SELECT o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name;
