CREATE TABLE spaces (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/spaces.csv', 'format' = 'csv');
SELECT * FROM spaces;
CREATE TABLE trimmed (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/spaces.csv', 'format' = 'csv', 'csv.trim-spaces' = 'true');
SELECT * FROM trimmed;
CREATE TABLE trimmed_null (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/spaces.csv', 'format' = 'csv', 'csv.trim-spaces' = 'true', 'csv.empty-string-as-null' = 'true');
SELECT * FROM trimmed_null;
