CREATE TABLE raws (l STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'raw');
INSERT INTO raws VALUES (' 1 , 2.5 , TRUE , 7 '), ('"3","4.5","false","8"'), ('-0,1e3,x,1E+5');
CREATE TABLE t (a INT, b DOUBLE, c BOOLEAN, d DECIMAL(10, 1)) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
SELECT * FROM t;
