-- uses: orders
SELECT o.id, e.item FROM orders AS o LEFT JOIN (SELECT * FROM orders WHERE FALSE) AS e ON o.id = e.id;
SELECT o.id FROM orders AS o JOIN (SELECT * FROM orders WHERE id > 1000) AS e ON o.id = e.id;
