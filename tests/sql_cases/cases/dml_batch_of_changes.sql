-- uses: orders
-- modes: batch
CREATE TABLE sums (item STRING, n BIGINT, total DECIMAL(38, 2)) WITH ('connector' = 'filesystem', 'path' = '${out}/sums', 'format' = 'csv');
INSERT INTO sums SELECT item, COUNT(*), SUM(amount) FROM orders GROUP BY item;
SELECT * FROM sums;
CREATE TABLE top (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/top', 'format' = 'csv');
INSERT INTO top SELECT id FROM orders ORDER BY id DESC LIMIT 3;
SELECT * FROM top;
CREATE TABLE paired (id INT, other INT) WITH ('connector' = 'filesystem', 'path' = '${out}/paired', 'format' = 'csv');
INSERT INTO paired SELECT a.id, b.id FROM orders AS a LEFT JOIN orders AS b ON a.id = b.id + 1;
SELECT * FROM paired;
