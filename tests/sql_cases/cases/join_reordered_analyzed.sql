-- uses: orders, customers, numbers
-- modes: batch
-- options: table.optimizer.join-reorder-enabled=true
ANALYZE TABLE orders COMPUTE STATISTICS FOR ALL COLUMNS;
ANALYZE TABLE customers COMPUTE STATISTICS FOR COLUMNS name, age;
ANALYZE TABLE numbers COMPUTE STATISTICS FOR ALL COLUMNS;
SELECT o.id, p.id AS other, c.city, n.i FROM orders AS o JOIN orders AS p ON o.item = p.item JOIN customers AS c ON p.who = c.name
JOIN numbers AS n ON n.id = o.amount WHERE n.s = 'one' OR c.age IS NULL;
SELECT c.city, COUNT(*) AS n, SUM(o.price) AS total FROM orders AS o, customers AS c, orders AS p, numbers AS m
WHERE o.who = c.name AND p.who = c.name AND p.amount = m.id AND o.price <> p.price GROUP BY c.city;
