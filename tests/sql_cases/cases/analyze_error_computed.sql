-- modes: batch
CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'filesystem', 'path' = '${data}/numbers.csv', 'format' = 'csv');
ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS b;
