-- uses: orders
CREATE TABLE out_t (id INT NOT NULL, item STRING NOT NULL) WITH ('connector' = 'blackhole');
INSERT INTO out_t SELECT id, item FROM orders;
