-- uses: orders
-- modes: batch
ANALYZE TABLE orders COMPUTE STATISTICS FOR COLUMNS nothing;
