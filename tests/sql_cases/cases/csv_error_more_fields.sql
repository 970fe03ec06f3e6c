CREATE TABLE more (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/more_fields.csv', 'format' = 'csv');
SELECT * FROM more;
