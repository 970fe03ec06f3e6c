CREATE DATABASE d;
CREATE TABLE d.t (x INT) WITH ('connector' = 'datagen');
DROP DATABASE d;
