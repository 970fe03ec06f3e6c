CREATE TABLE t (x INT) WITH ('connector' = 'datagen');
CREATE TABLE IF NOT EXISTS t (x INT) WITH ('connector' = 'datagen');
CREATE TABLE t (x INT) WITH ('connector' = 'datagen');
