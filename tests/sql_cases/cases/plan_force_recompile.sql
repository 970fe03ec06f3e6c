-- uses: orders
-- options: table.plan.force-recompile=true
CREATE TABLE out_t (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id FROM orders WHERE id < 4;
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id FROM orders WHERE id = 9;
EXECUTE PLAN '${out}/p.json';
SELECT * FROM out_t;
