-- uses: orders
-- options: table.plan.restore.catalog-objects=ALL_ENFORCED
CREATE TABLE out_t (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id FROM orders WHERE id < 4;
DROP TABLE orders;
CREATE TABLE orders (id INT, who STRING, item STRING, amount INT, price DECIMAL(6, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '${out}/nowhere', 'format' = 'csv');
EXECUTE PLAN '${out}/p.json';
SELECT * FROM out_t;
