-- uses: orders, customers
SELECT o.id, c.city FROM orders AS o LEFT JOIN customers AS c ON UPPER(o.who) = UPPER(c.name) AND o.amount > 2;
