CREATE TABLE customers (name STRING, city STRING, age INT, tags ARRAY<STRING>, home ROW<street STRING, `no` INT>)
WITH ('connector' = 'filesystem', 'path' = '${data}/customers.json', 'format' = 'json');
