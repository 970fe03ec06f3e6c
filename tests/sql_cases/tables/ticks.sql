CREATE TABLE ticks (id INT, sym STRING, price INT, tax DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${data}/ticks.csv', 'format' = 'csv', 'csv.null-literal' = '');
