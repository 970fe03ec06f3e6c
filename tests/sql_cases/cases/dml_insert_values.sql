CREATE TABLE out_t (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
INSERT INTO out_t VALUES (1, 'x'), (2, 'y'), (3, CAST(NULL AS STRING));
SELECT * FROM out_t;
