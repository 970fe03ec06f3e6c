-- uses: orders
SELECT id, id IN (SELECT amount FROM orders WHERE id < 8) AS x FROM orders;
SELECT id, EXISTS (SELECT 1 FROM orders AS p WHERE p.id > o.id AND p.who = o.who) AS x FROM orders AS o;
SELECT id, CASE WHEN NULLIF(id, 1) NOT IN (SELECT NULLIF(id, 2) FROM orders WHERE id < 6) THEN 'out' ELSE 'in' END AS x FROM orders;
