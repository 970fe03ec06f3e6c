-- uses: orders
CREATE TABLE out_t (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id FROM orders WHERE id < 4;
DROP TABLE out_t;
CREATE TABLE out_t (id BIGINT) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
EXECUTE PLAN '${out}/p.json';
