CREATE TABLE t (x INT) PARTITIONED BY (y) WITH ('connector' = 'datagen');
