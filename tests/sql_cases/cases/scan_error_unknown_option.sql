CREATE TABLE t (x INT) WITH ('connector' = 'datagen', 'rows-per-secnd' = '1');
SELECT * FROM t;
