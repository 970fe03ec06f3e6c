-- uses: orders, customers, payments, rates
-- options: table.optimizer.join-reorder-enabled=true
SELECT o.id, c.city, p.amount FROM orders AS o, payments AS p, customers AS c
WHERE o.who = c.name AND o.id = p.id AND c.age > 30;
SELECT o.id, c.city, p.currency, n.name FROM orders AS o JOIN payments AS p ON o.id < p.id
JOIN customers AS c ON o.who = c.name AND c.age + p.id > 40 CROSS JOIN (VALUES ('x'), ('y')) AS n (name);
