-- uses: orders, customers, payments
-- options: table.optimizer.join-reorder-enabled=true
SELECT o.id, c.city, p.amount FROM payments AS p JOIN orders AS o ON o.id = p.id LEFT JOIN customers AS c ON o.who = c.name;
SELECT o.id, c.city, p.amount FROM orders AS o LEFT JOIN customers AS c ON o.who = c.name JOIN payments AS p ON o.id = p.id AND p.amount > 6;
SELECT o.id, c.city, p.amount FROM orders AS o FULL JOIN customers AS c ON o.who = c.name JOIN payments AS p ON o.id = p.id
WHERE EXISTS (SELECT 1 FROM orders AS q WHERE q.item = o.item AND q.id <> o.id);
