-- uses: orders
-- modes: batch
SELECT id, id IN (SELECT id FROM orders WHERE id > 100) AS x, NULLIF(id, 1) NOT IN (SELECT id FROM orders WHERE id > 100) AS y,
  id IN (SELECT p.amount + 1 FROM orders AS p WHERE p.who = o.who) AS u FROM orders AS o;
SELECT id, EXISTS (SELECT 1 FROM orders WHERE id > 100) AS z FROM orders;
SELECT who, SUM(CASE WHEN amount IN (SELECT id FROM orders WHERE item = 'apple') THEN 1 ELSE 0 END) AS s, MAX(id) IN (SELECT amount FROM orders) AS x
FROM orders GROUP BY who;
