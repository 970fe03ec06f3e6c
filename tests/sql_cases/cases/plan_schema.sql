-- uses: orders
-- options: table.plan.compile.catalog-objects=SCHEMA
CREATE TABLE out_t (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id FROM orders WHERE id < 4;
ALTER TABLE out_t SET ('format' = 'json');
EXECUTE PLAN '${out}/p.json';
SELECT * FROM out_t;
