-- uses: orders, customers
SELECT id FROM orders AS o JOIN orders AS p ON o.id = p.id;
