-- uses: products
-- modes: streaming
SELECT id, name, n FROM (SELECT id, name, ROW_NUMBER() OVER (ORDER BY weight DESC, id) AS n FROM products) AS t WHERE n <= 3;
