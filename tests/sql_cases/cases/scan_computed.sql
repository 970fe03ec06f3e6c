CREATE TABLE t (id INT, who STRING, item STRING, amount INT, price DECIMAL(6, 2), ts TIMESTAMP(3), label AS item || '!', more AS id + 100)
WITH ('connector' = 'filesystem', 'path' = '${data}/orders.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT more, label, id FROM t;
