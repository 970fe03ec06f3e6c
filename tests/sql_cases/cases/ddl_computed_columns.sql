CREATE TABLE t (a INT, b AS a * 2, c STRING, d AS UPPER(c) || CAST(a AS STRING)) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
INSERT INTO t VALUES (1, 'x'), (2, CAST(NULL AS STRING));
SELECT * FROM t;
SELECT d, b FROM t WHERE b > 2;
DESCRIBE t;
