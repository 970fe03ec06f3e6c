-- modes: batch
CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '${data}/numbers.csv', 'format' = 'csv');
ANALYZE TABLE t COMPUTE STATISTICS;
