-- uses: orders, customers
SELECT o.id, o.who, c.city FROM orders AS o LEFT JOIN customers AS c ON o.who = c.name;
