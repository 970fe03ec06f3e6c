CREATE TABLE t (line STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/rates.csv', 'format' = 'raw');
SELECT * FROM t;
