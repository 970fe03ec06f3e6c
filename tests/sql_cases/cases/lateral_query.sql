-- uses: orders
SELECT a.id, b.price FROM orders AS a, LATERAL (SELECT o.price FROM orders AS o WHERE o.who = a.who AND o.amount < a.amount) AS b;
SELECT a.id, b.n, b.m FROM orders AS a CROSS JOIN LATERAL (SELECT COUNT(*) AS n, MAX(o.amount) AS m FROM orders AS o WHERE o.item = a.item) AS b;
SELECT a.id, b.m FROM orders AS a, LATERAL (SELECT SUM(o.amount) AS m FROM orders AS o WHERE o.amount < a.amount) AS b;
SELECT a.id, b.m FROM orders AS a, LATERAL (SELECT SUM(o.amount + a.id) AS m FROM orders AS o WHERE o.item = a.item) AS b;
SELECT a.id, b.item, b.n FROM orders AS a, LATERAL (SELECT item, COUNT(*) AS n FROM orders AS o WHERE o.who = a.who GROUP BY item) AS b;
SELECT a.id, b.item FROM orders AS a, LATERAL (SELECT DISTINCT item FROM orders AS o WHERE o.who = a.who) AS b;
SELECT a.id, b.n FROM orders AS a, LATERAL (SELECT COUNT(*) FROM orders AS o WHERE UPPER(o.who) = UPPER(a.who) AND o.id = a.id + 2) AS b (n);
SELECT a.id, total FROM orders AS a, LATERAL (SELECT price * 2 AS total, id AS other FROM orders AS o WHERE o.who = a.who AND o.id > a.id);
SELECT a.id, b.id AS other FROM orders AS a JOIN LATERAL (SELECT id FROM orders AS o WHERE o.who = a.who) AS b ON b.id > a.id + 3;
SELECT x.id FROM LATERAL (SELECT id FROM orders) AS x WHERE x.id < 3;
