CREATE TABLE t (x INT, PRIMARY KEY (y) NOT ENFORCED) WITH ('connector' = 'datagen');
