-- uses: orders
SELECT id, LISTAGG(item) OVER (PARTITION BY who ORDER BY ts) AS l FROM orders;
