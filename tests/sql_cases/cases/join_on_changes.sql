-- uses: products, orders
-- modes: streaming
SELECT p.name, p.weight, o.item FROM products AS p JOIN orders AS o ON p.id = o.id;
