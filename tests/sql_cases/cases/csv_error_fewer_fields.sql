CREATE TABLE fewer (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/fewer_fields.csv', 'format' = 'csv', 'csv.fail-on-missing-columns' = 'true');
SELECT * FROM fewer;
