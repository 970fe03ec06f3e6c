-- uses: orders, customers, numbers
-- modes: batch
ANALYZE TABLE orders COMPUTE STATISTICS;
ANALYZE TABLE numbers COMPUTE STATISTICS FOR ALL COLUMNS;
ANALYZE TABLE customers COMPUTE STATISTICS FOR COLUMNS name, age;
SELECT o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name JOIN numbers AS n ON n.id = o.amount WHERE n.b;
