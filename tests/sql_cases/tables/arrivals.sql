CREATE TABLE arrivals (id INT, who STRING, gate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${data}/arrivals.csv', 'format' = 'csv', 'csv.null-literal' = '');
