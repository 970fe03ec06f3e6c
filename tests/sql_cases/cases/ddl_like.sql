CREATE TABLE base (id BIGINT NOT NULL, ts TIMESTAMP(3), twice AS id * 2, WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'datagen', 'rows-per-second' = '5');
CREATE TABLE derived (more STRING) WITH ('number-of-rows' = '3') LIKE base;
DESCRIBE derived;
SHOW CREATE TABLE derived;
CREATE TABLE derived2 (WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'print')
LIKE base (EXCLUDING ALL);
DESCRIBE derived2;
CREATE TABLE derived3 (WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) LIKE base (OVERWRITING WATERMARKS EXCLUDING CONSTRAINTS);
DESCRIBE derived3;
