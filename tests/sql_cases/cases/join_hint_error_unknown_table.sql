-- uses: orders, customers
-- modes: batch
SELECT /*+ BROADCAST(nobody) */ o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name;
