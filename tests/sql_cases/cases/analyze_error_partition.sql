-- uses: orders
-- modes: batch
ANALYZE TABLE orders PARTITION (who) COMPUTE STATISTICS;
