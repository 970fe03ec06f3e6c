-- uses: orders
SELECT a.id, b.n, c.m FROM orders AS a, LATERAL (SELECT COUNT(*) AS n FROM orders AS o WHERE o.item = a.item) AS b,
  LATERAL (SELECT MAX(o.id) AS m FROM orders AS o WHERE o.amount = b.n AND o.id <> a.id) AS c;
SELECT a.id, b.m FROM orders AS a, LATERAL (SELECT MAX(n) AS m FROM (SELECT COUNT(*) AS n FROM orders AS o WHERE o.who = a.who GROUP BY item)) AS b;
SELECT a.id, b.price FROM orders AS a, LATERAL (
  SELECT o.price FROM orders AS o WHERE o.who = a.who AND EXISTS (SELECT 1 FROM orders AS p WHERE p.item = o.item AND p.amount > a.amount)) AS b;
SELECT a.id, b.id AS other FROM orders AS a, LATERAL (SELECT o.id FROM orders AS o WHERE o.who = a.who AND o.id IN (SELECT amount FROM orders)) AS b;
SELECT a.id, b.y FROM orders AS a, LATERAL (
  SELECT o.amount + s.total AS y FROM orders AS o JOIN (SELECT who, SUM(amount) AS total FROM orders GROUP BY who) AS s ON o.who = s.who
  WHERE o.item = a.item) AS b;
SELECT a.who, b.n FROM (SELECT who, SUM(amount) AS total FROM orders GROUP BY who) AS a,
  LATERAL (SELECT COUNT(*) AS n FROM orders AS o WHERE o.who = a.who AND o.amount < a.total) AS b;
SELECT a.id, b.total FROM orders AS a LEFT JOIN LATERAL (
  SELECT total FROM (SELECT who, SUM(amount) AS total FROM orders GROUP BY who) AS s WHERE s.who = a.who) AS b ON TRUE;
SELECT a.who, SUM(b.price) AS s FROM orders AS a, LATERAL (SELECT o.price FROM orders AS o WHERE o.item = a.item) AS b WHERE a.id < 6 GROUP BY a.who;
