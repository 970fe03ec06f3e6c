-- uses: products
-- modes: streaming
SELECT MIN(weight), MAX(weight), COUNT(DISTINCT name), SUM(weight) FILTER (WHERE weight > 1) FROM products;
