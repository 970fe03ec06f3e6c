-- uses: orders
SELECT a.id, b.price FROM orders AS a LEFT JOIN LATERAL (SELECT o.price FROM orders AS o WHERE o.who = a.who AND o.amount < a.amount) AS b ON TRUE;
SELECT a.id, b.n FROM orders AS a LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM orders AS o WHERE o.item = a.item AND o.id > 5) AS b ON TRUE;
SELECT a.id, b.n FROM orders AS a LEFT JOIN LATERAL (SELECT COUNT(*) + 1 AS n FROM orders AS o WHERE o.amount > a.amount) AS b ON TRUE;
SELECT a.id, b.id AS other FROM orders AS a LEFT JOIN LATERAL (SELECT id FROM orders AS o WHERE o.who = a.who) AS b ON b.id > a.id + 3;
