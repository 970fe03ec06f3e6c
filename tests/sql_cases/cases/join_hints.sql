-- uses: orders, customers, payments
-- modes: batch
SELECT /*+ BROADCAST(c) */ o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name;
SELECT /*+ BROADCAST(c) */ o.id, c.city FROM orders AS o LEFT JOIN customers AS c ON o.who = c.name;
SELECT /*+ BROADCAST(o) */ o.id, c.city FROM orders AS o RIGHT JOIN customers AS c ON o.who = c.name AND o.amount > 2;
SELECT /*+ BROADCAST(c) */ o.id, c.city FROM orders AS o FULL JOIN customers AS c ON o.who = c.name;
SELECT /*+ SHUFFLE_HASH(o) */ o.id, c.city FROM orders AS o JOIN customers AS c ON o.who = c.name;
SELECT /*+ SHUFFLE_HASH(c) */ o.id, c.city FROM orders AS o FULL JOIN customers AS c ON o.who = c.name AND o.id > c.age - 30;
SELECT /*+ SHUFFLE_MERGE(o) */ o.id, c.city FROM orders AS o LEFT JOIN customers AS c ON o.who = c.name;
SELECT /*+ NEST_LOOP(c) */ o.id, c.city FROM orders AS o LEFT JOIN customers AS c ON o.amount * 10 < c.age;
SELECT /*+ BROADCAST(c), SHUFFLE_HASH(p) */ o.id, c.city, p.amount FROM orders AS o JOIN customers AS c ON o.who = c.name
JOIN payments AS p ON o.id = p.id;
SELECT o.id FROM orders AS o WHERE o.who IN (SELECT name FROM customers WHERE age > 30);
SELECT o.id FROM orders AS o WHERE NOT EXISTS (SELECT 1 FROM customers AS c WHERE c.name = o.who);
