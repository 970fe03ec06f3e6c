-- modes: batch
CREATE TABLE t (a INT, `file.path` STRING NOT NULL METADATA VIRTUAL)
WITH ('connector' = 'filesystem', 'path' = '${data}/numbers.csv', 'format' = 'csv');
ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS `file.path`;
