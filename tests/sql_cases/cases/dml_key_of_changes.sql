-- uses: orders
-- modes: streaming
CREATE TABLE by_count (n BIGINT, item STRING, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'filesystem', 'path' = '${out}/c', 'format' = 'debezium-json');
INSERT INTO by_count SELECT COUNT(*), item FROM orders GROUP BY item;
CREATE TABLE written (n BIGINT, item STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/c', 'format' = 'debezium-json');
SELECT n, item FROM written;
