-- uses: orders, customers
-- modes: batch
SELECT /*+ BROADCAST */ o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name;
