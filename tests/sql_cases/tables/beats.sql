CREATE TABLE beats (id INT, sym STRING, price INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${data}/beats.csv', 'format' = 'csv', 'csv.null-literal' = '');
