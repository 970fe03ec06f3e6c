CREATE TABLE t (x INT) WITH ('connector' = 'nothing');
SELECT * FROM t;
