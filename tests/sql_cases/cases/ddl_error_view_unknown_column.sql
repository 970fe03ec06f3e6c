CREATE TABLE t (x INT) WITH ('connector' = 'datagen');
CREATE VIEW v AS SELECT y FROM t;
