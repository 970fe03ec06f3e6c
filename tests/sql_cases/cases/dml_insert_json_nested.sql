-- uses: customers
CREATE TABLE out_t (name STRING, tags ARRAY<STRING>, home ROW<street STRING, `no` INT>)
WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'json');
INSERT INTO out_t SELECT name, tags, home FROM customers;
SELECT * FROM out_t;
