CREATE TABLE ended (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/trailing_commas.csv', 'format' = 'csv');
SELECT * FROM ended;
