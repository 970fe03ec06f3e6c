-- uses: orders, products
-- modes: streaming
SELECT id, LISTAGG(item) OVER (PARTITION BY who ORDER BY id) AS l FROM orders;
