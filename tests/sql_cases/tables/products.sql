CREATE TABLE products (id INT, name STRING, weight DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${data}/changes.json', 'format' = 'debezium-json');
