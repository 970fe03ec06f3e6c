-- uses: orders
CREATE TABLE by_id (id INT, item STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print');
INSERT INTO by_id SELECT id, item FROM orders ON CONFLICT DO OVERWRITE;
