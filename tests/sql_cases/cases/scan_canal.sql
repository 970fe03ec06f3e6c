-- uses: canal_products
-- modes: streaming
SELECT * FROM canal_products;
