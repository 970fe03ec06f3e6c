-- uses: orders
SELECT id, (SELECT MAX(o.amount) FROM orders AS o WHERE o.who = orders.who) AS m FROM orders;
SELECT id FROM orders AS a WHERE amount > (SELECT AVG(b.amount) FROM orders AS b WHERE b.item = a.item);
SELECT id, (SELECT COUNT(*) FROM orders AS o WHERE o.item = orders.item AND o.amount > 2) AS n FROM orders;
