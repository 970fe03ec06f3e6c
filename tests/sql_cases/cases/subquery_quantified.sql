-- uses: orders
SELECT id, amount > ALL (SELECT o.amount FROM orders AS o WHERE o.item = a.item AND o.id <> a.id) AS f FROM orders AS a;
SELECT id FROM orders AS a WHERE amount >= ALL (SELECT o.amount FROM orders AS o WHERE o.who = a.who AND o.amount IS NOT NULL);
SELECT id FROM orders AS a WHERE amount > SOME (SELECT o.amount FROM orders AS o WHERE o.who = a.who);
SELECT id FROM orders WHERE amount = ANY (SELECT id FROM orders);
SELECT id, amount <> ALL (SELECT id FROM orders WHERE id < 5) AS f, amount = SOME (SELECT id FROM orders WHERE id < 3) AS g FROM orders;
SELECT id, who >= ALL (SELECT who FROM orders WHERE who IS NOT NULL) AS f, who > ANY (SELECT who FROM orders) AS g FROM orders;
SELECT id FROM orders WHERE NOT amount < ALL (SELECT amount FROM orders WHERE amount > 3);
SELECT id FROM orders WHERE amount + 1 >= ALL (SELECT MAX(amount) FROM orders WHERE who <> 'eve' GROUP BY who);
