-- uses: orders
SELECT id FROM orders WHERE id IN (SELECT amount FROM orders WHERE who = 'ann') OR item = 'plum';
SELECT id FROM orders WHERE NOT (amount IN (SELECT id FROM orders WHERE item = 'apple') OR item = 'plum');
SELECT id FROM orders AS o WHERE amount = 1 OR EXISTS (SELECT 1 FROM orders AS p WHERE p.who = o.who AND p.amount > o.amount + 1);
SELECT id FROM orders AS o WHERE id = 1 OR NOT EXISTS (SELECT 1 FROM orders AS p WHERE p.id > o.id AND p.item = o.item);
