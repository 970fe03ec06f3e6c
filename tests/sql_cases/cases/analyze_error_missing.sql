-- modes: batch
ANALYZE TABLE nowhere COMPUTE STATISTICS;
