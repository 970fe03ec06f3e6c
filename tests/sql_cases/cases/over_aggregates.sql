-- uses: orders
-- modes: batch
SELECT id, LISTAGG(item) OVER (PARTITION BY who ORDER BY id) AS l, ARRAY_AGG(amount) OVER (PARTITION BY who ORDER BY id) AS a FROM orders;
