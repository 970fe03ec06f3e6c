-- uses: orders
CREATE TEMPORARY TABLE out_t (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id FROM orders WHERE id < 4;
DROP TEMPORARY TABLE out_t;
EXECUTE PLAN '${out}/p.json';
