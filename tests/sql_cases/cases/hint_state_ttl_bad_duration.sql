-- uses: orders, customers
SELECT /*+ STATE_TTL('o' = 'soon', 'c' = '2h') */ o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name;
