CREATE TABLE numbers (id INT, i INT, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${data}/numbers.csv', 'format' = 'csv', 'csv.null-literal' = '\N');
