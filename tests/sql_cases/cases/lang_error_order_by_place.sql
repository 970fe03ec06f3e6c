-- uses: orders
-- modes: batch
SELECT id, who FROM orders ORDER BY 3;
