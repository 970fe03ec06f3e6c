-- modes: batch
CREATE TABLE marked (id INT, who STRING, item STRING, amount INT, price DECIMAL(6, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS SOURCE_WATERMARK())
WITH ('connector' = 'filesystem', 'path' = '${data}/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT id, ts FROM marked WHERE id < 4;
SELECT window_start, COUNT(*) AS c FROM TUMBLE(TABLE marked, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
