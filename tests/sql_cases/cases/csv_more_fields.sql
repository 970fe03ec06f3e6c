CREATE TABLE unmapped (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/more_fields.csv', 'format' = 'csv', 'csv.ignore-trailing-unmappable' = 'true');
SELECT * FROM unmapped;
CREATE TABLE more_ignored (id INT, s STRING, t STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/more_fields.csv', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true');
SELECT * FROM more_ignored;
