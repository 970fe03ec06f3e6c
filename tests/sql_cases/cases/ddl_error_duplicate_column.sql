CREATE TABLE t (x INT, x STRING) WITH ('connector' = 'datagen');
