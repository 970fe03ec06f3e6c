-- uses: products
-- modes: streaming
SELECT * FROM products;
