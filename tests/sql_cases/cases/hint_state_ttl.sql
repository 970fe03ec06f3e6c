-- uses: orders, customers
SELECT /*+ STATE_TTL('o' = '1d', 'c' = '2h') */ o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name;
SELECT /*+ STATE_TTL('orders' = '1d') */ who, COUNT(*) AS n FROM orders GROUP BY who;
