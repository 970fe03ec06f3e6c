CREATE TABLE row_changes (code STRING, id INT, name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${data}/row_changes.csv', 'format' = 'csv');
