-- uses: orders
SELECT id FROM orders AS a WHERE EXISTS (SELECT SUM(o.amount) FROM orders AS o WHERE o.who = a.who);
SELECT id FROM orders AS a WHERE EXISTS (SELECT who FROM orders AS o WHERE o.who = a.who GROUP BY who HAVING SUM(o.amount) > 7);
SELECT id FROM orders AS a WHERE NOT EXISTS (SELECT who FROM orders AS o WHERE o.who = a.who GROUP BY who HAVING SUM(o.amount) > 7);
SELECT id FROM orders AS a WHERE id IN (SELECT MAX(o.id) FROM orders AS o WHERE o.who = a.who);
SELECT id FROM orders AS a WHERE amount IN (SELECT DISTINCT o.amount + 1 FROM orders AS o WHERE o.item = a.item);
SELECT id FROM orders AS a WHERE EXISTS (
  SELECT 1 FROM orders AS o WHERE o.who = a.who AND EXISTS (SELECT 1 FROM orders AS p WHERE p.item = a.item AND p.amount > o.amount));
SELECT a.k, EXISTS (SELECT 1 FROM orders AS o WHERE o.amount = a.k) AS e, COUNT(*) AS c FROM (SELECT id % 4 AS k, id FROM orders) AS a GROUP BY k;
SELECT a.k, COUNT(*) AS c FROM (SELECT id % 4 AS k, id FROM orders) AS a GROUP BY k HAVING EXISTS (SELECT 1 FROM orders AS o WHERE o.amount = a.k AND o.id > 1);
SELECT a.k, COUNT(*) AS c FROM (SELECT id % 4 AS k, id FROM orders) AS a GROUP BY k HAVING COUNT(*) NOT IN (SELECT o.amount FROM orders AS o WHERE o.id = a.k + 1);
SELECT a.k, (SELECT COUNT(*) FROM orders AS o WHERE o.amount < a.k) AS m FROM (SELECT id % 4 AS k, id FROM orders) AS a GROUP BY k;
