-- uses: orders
CREATE TABLE t (id INT, word STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
INSERT INTO t VALUES (1, 'a;b');
CREATE TABLE lines (one STRING, other STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
SELECT * FROM lines /*+ OPTIONS('csv.field-delimiter' = ',') */ AS l;
