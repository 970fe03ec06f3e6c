-- uses: orders
SELECT id, (SELECT MAX(o.amount) FROM orders AS o WHERE o.amount < a.amount) AS m FROM orders AS a;
SELECT id, (SELECT COUNT(*) + 1 FROM orders AS o WHERE o.item = a.item AND o.id > 6) AS m FROM orders AS a;
SELECT id, (SELECT COUNT(*) FROM orders AS o WHERE o.amount > a.amount) AS m FROM orders AS a;
SELECT id, (SELECT MAX(o.amount + a.id) FROM orders AS o WHERE o.item = a.item) AS m FROM orders AS a;
SELECT id, (SELECT o.price FROM orders AS o WHERE o.id = a.id + 1) AS m FROM orders AS a;
SELECT id, (SELECT SUM(o.amount) FROM orders AS o WHERE o.who = a.who GROUP BY o.who) AS m FROM orders AS a;
SELECT id, (SELECT DISTINCT o.who FROM orders AS o WHERE o.who = a.who) AS m FROM orders AS a;
SELECT id, (SELECT SUM(o.amount) FROM orders AS o WHERE o.who = a.who HAVING SUM(o.amount) > 7) AS m FROM orders AS a;
SELECT id FROM orders AS a WHERE amount > (SELECT AVG(o.amount) FROM orders AS o WHERE o.amount < a.amount + 2);
