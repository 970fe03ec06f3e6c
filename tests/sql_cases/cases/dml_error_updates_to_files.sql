-- uses: orders
-- modes: streaming
CREATE TABLE out_t (item STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv');
INSERT INTO out_t SELECT item, COUNT(*) FROM orders GROUP BY item;
