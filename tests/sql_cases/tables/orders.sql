CREATE TABLE orders (id INT, who STRING, item STRING, amount INT, price DECIMAL(6, 2), ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${data}/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
