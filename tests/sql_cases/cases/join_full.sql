-- uses: orders, customers
SELECT o.id, c.name FROM orders AS o FULL JOIN customers AS c ON o.who = c.name;
