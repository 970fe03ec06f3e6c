CREATE TABLE t (x INT, WATERMARK FOR x AS x) WITH ('connector' = 'datagen');
