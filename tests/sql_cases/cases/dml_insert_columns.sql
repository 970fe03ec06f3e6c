CREATE TABLE t (a INT, b STRING, c DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'json');
INSERT INTO t (c, a) VALUES (1.5, 1), (2, 2);
SELECT * FROM t;
