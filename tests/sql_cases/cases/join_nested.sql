-- uses: orders, customers
SELECT o.id, c.city FROM orders AS o JOIN customers AS c ON ARRAY[o.who, 'x'] = ARRAY[c.name, 'x'];
SELECT o.id, c.city FROM orders AS o LEFT JOIN (SELECT ROW(name, city) AS pair, city FROM customers) AS c ON ROW(o.who, 'Graz') = c.pair;
