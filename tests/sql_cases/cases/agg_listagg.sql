-- uses: orders
-- modes: streaming
SELECT who, LISTAGG(item), LISTAGG(DISTINCT item, '; ') FROM orders GROUP BY who;
