-- uses: products
-- modes: streaming
SELECT name, COUNT(*), SUM(weight), MAX(weight) FROM products GROUP BY name;
