CREATE TABLE canal_products (id INT, name STRING, weight DOUBLE)
WITH ('connector' = 'filesystem', 'path' = '${data}/canal.json', 'format' = 'canal-json');
