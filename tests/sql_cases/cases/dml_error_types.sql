-- uses: orders
CREATE TABLE out_t (id INT, item STRING) WITH ('connector' = 'blackhole');
INSERT INTO out_t SELECT item, ts FROM orders;
