-- uses: orders, customers
-- modes: batch
SELECT /*+ SHUFFLE_HASH('c' = '1') */ o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name;
