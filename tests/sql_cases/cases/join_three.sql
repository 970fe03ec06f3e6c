-- uses: orders, customers, payments
SELECT o.id, c.city, p.amount FROM orders o JOIN customers c ON o.who = c.name JOIN payments p ON p.id = o.id;
