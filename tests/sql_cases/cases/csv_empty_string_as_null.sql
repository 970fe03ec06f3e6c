CREATE TABLE plain (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/empty_fields.csv', 'format' = 'csv');
SELECT * FROM plain;
CREATE TABLE as_null (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/empty_fields.csv', 'format' = 'csv', 'csv.empty-string-as-null' = 'true');
SELECT * FROM as_null;
CREATE TABLE literal (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/empty_fields.csv', 'format' = 'csv', 'csv.null-literal' = 'x');
SELECT * FROM literal;
