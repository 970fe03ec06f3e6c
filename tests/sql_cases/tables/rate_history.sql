CREATE TABLE rate_history (currency STRING, rate DECIMAL(6, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH ('connector' = 'filesystem', 'path' = '${data}/rate_history.csv', 'format' = 'csv');
