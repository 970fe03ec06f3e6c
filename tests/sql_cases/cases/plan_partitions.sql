-- uses: orders
CREATE TABLE out_t (id INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id, item FROM orders WHERE id < 4;
DROP TABLE out_t;
CREATE TABLE out_t (id INT, p STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
EXECUTE PLAN '${out}/p.json';
DROP TABLE out_t;
CREATE TABLE out_t (id INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
SELECT * FROM out_t;
