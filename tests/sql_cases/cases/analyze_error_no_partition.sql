-- modes: batch
CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '${out}', 'format' = 'csv');
ANALYZE TABLE t COMPUTE STATISTICS;
