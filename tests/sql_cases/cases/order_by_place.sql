-- uses: orders
-- modes: batch
-- ordered: batch
SELECT id, who FROM orders ORDER BY 2 DESC, 1 OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY;
