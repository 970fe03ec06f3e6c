-- uses: orders
CREATE TABLE copied WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'json') AS SELECT id, price FROM orders WHERE id > 9;
DESCRIBE copied;
SELECT * FROM copied;
