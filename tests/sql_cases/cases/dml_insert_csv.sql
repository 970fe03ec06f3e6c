-- uses: orders
CREATE TABLE out_t (id INT, item STRING, total DECIMAL(18, 2)) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv', 'csv.null-literal' = 'NULL');
INSERT INTO out_t SELECT id, item, price FROM orders WHERE id < 5;
INSERT INTO out_t (item, id) SELECT item, id FROM orders WHERE id > 10;
SELECT * FROM out_t;
