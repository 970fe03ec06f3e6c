-- uses: orders
-- modes: batch
CREATE TABLE out_t (item STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT item FROM orders INTERSECT ALL SELECT item FROM orders WHERE id < 5;
EXECUTE PLAN '${out}/p.json';
SELECT * FROM out_t;
