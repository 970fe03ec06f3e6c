CREATE TABLE t (a BIGINT, b DECIMAL(10, 3), c VARCHAR(3), d TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'json');
INSERT INTO t SELECT 1, 2, 'ab', TIMESTAMP '2024-01-01 00:00:00.123456';
SELECT * FROM t;
