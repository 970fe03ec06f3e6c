CREATE TABLE n (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
SELECT * FROM n /*+ OPTIONS('number-of-rws' = '3') */;
