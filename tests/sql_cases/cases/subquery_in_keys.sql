-- uses: orders
SELECT amount IN (SELECT id FROM orders WHERE id < 4) AS f, COUNT(*) AS c FROM orders GROUP BY amount IN (SELECT id FROM orders WHERE id < 4);
SELECT COUNT(*) AS c FROM orders AS a GROUP BY EXISTS (SELECT 1 FROM orders AS o WHERE o.who = a.who AND o.id > 9);
SELECT (SELECT MAX(o.amount) FROM orders AS o WHERE o.who = a.who) AS m, COUNT(*) AS c FROM orders AS a
  GROUP BY (SELECT MAX(o.amount) FROM orders AS o WHERE o.who = a.who);
SELECT id FROM orders ORDER BY amount IN (SELECT id FROM orders WHERE id < 4), id LIMIT 5;
SELECT id FROM orders AS a ORDER BY EXISTS (SELECT 1 FROM orders AS o WHERE o.who = a.who AND o.id > 9), id LIMIT 5;
SELECT id FROM orders AS a ORDER BY (SELECT MAX(o.amount) FROM orders AS o WHERE o.who = a.who), id LIMIT 5;
