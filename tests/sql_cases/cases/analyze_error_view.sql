-- uses: orders
-- modes: batch
CREATE VIEW v AS SELECT id FROM orders;
ANALYZE TABLE v COMPUTE STATISTICS;
