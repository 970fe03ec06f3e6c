-- uses: orders
CREATE TABLE out_t (id INT, amount INT, item STRING) PARTITIONED BY (item)
WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'json');
INSERT INTO out_t SELECT id, amount, item FROM orders WHERE item IS NOT NULL;
INSERT INTO out_t PARTITION (item = 'special') SELECT id, amount FROM orders WHERE id = 1;
SELECT * FROM out_t;
