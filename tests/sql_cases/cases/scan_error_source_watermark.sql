-- modes: streaming
CREATE TABLE marked (id INT, who STRING, item STRING, amount INT, price DECIMAL(6, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS SOURCE_WATERMARK())
WITH ('connector' = 'filesystem', 'path' = '${data}/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
DESCRIBE marked;
SELECT id, ts FROM marked WHERE id < 4;
