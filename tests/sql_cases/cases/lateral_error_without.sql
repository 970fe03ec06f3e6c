-- uses: orders
SELECT a.id, b.price FROM orders AS a, (SELECT o.price FROM orders AS o WHERE o.who = a.who) AS b;
