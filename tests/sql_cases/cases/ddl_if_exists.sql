CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');
CREATE TABLE IF NOT EXISTS t (b STRING) WITH ('connector' = 'blackhole');
DESCRIBE t;
DROP TABLE IF EXISTS nothing;
DROP TABLE t;
SHOW TABLES;
