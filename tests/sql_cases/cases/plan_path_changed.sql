-- uses: orders
CREATE TABLE out_t (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/first', 'format' = 'csv');
CREATE TABLE other (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/second', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id FROM orders WHERE id < 4;
ALTER TABLE out_t SET ('path' = '${out}/second', 'csv.field-delimiter' = ';');
EXECUTE PLAN '${out}/p.json';
SELECT * FROM other;
