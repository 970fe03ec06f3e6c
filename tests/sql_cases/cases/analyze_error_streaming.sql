-- uses: orders
-- modes: streaming
ANALYZE TABLE orders COMPUTE STATISTICS;
