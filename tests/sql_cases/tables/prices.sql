CREATE TABLE prices (item STRING, price DECIMAL(6, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE,
  PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${data}/prices.json', 'format' = 'debezium-json');
