-- uses: orders
CREATE TABLE out_t (id INT, item STRING) WITH ('connector' = 'blackhole');
INSERT INTO out_t (id, itm) SELECT id, item FROM orders;
