-- ordered: streaming
-- uses: orders
-- modes: streaming
SELECT id, ts FROM orders ORDER BY ts;
