-- ordered: batch
-- uses: orders
-- modes: batch
SELECT id, amount FROM orders ORDER BY amount DESC, id;
