-- uses: orders
SELECT id, (SELECT o.price FROM orders AS o WHERE o.who = a.who) AS m FROM orders AS a;
