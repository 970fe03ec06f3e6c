-- uses: orders, customers
SELECT o.id, c.name FROM orders AS o JOIN customers AS c ON o.who = c.name AND o.amount * 10 < c.age;
