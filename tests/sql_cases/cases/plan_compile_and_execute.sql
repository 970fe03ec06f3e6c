-- uses: orders, rates
CREATE TABLE out_t (id INT, what STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
COMPILE AND EXECUTE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id, UPPER(item) || '!' FROM orders WHERE price > 1.2 AND ts IS NOT NULL;
COMPILE AND EXECUTE PLAN '${out}/p.json' FOR INSERT INTO out_t SELECT id + 100, item FROM orders;
SELECT * FROM out_t;
