-- uses: orders, customers
SELECT o.id, c.age FROM orders AS o, customers AS c WHERE o.who = c.name AND c.age > 30;
