CREATE TABLE t (id BIGINT NOT NULL, name STRING) WITH ('connector' = 'datagen');
CREATE VIEW v (a, b) COMMENT 'seen' AS SELECT id, name FROM t WHERE id > 1;
DESCRIBE v;
