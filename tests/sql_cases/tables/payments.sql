CREATE TABLE payments (id INT, currency STRING, amount DECIMAL(8, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${data}/payments.csv', 'format' = 'csv');
