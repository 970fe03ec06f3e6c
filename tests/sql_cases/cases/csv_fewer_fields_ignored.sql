CREATE TABLE ignored (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/fewer_fields.csv', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true');
SELECT * FROM ignored;
CREATE TABLE missing (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/fewer_fields.csv', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true', 'csv.fail-on-missing-columns' = 'true');
SELECT * FROM missing;
