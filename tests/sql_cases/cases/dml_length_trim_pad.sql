-- options: table.exec.sink.type-length-enforcer=TRIM_PAD
CREATE TABLE texts (id INT, t STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/texts', 'format' = 'csv');
INSERT INTO texts VALUES (1, 'ab'), (2, 'abc'), (3, 'abcdef'), (4, CAST(NULL AS STRING));
CREATE TABLE fixed (id INT, t CHAR(3)) WITH ('connector' = 'filesystem', 'path' = '${out}/texts', 'format' = 'csv');
CREATE TABLE bounded (id INT, t VARCHAR(4)) WITH ('connector' = 'filesystem', 'path' = '${out}/texts', 'format' = 'csv');
CREATE TABLE to_fixed (id INT, t CHAR(3)) WITH ('connector' = 'filesystem', 'path' = '${out}/fixed', 'format' = 'csv');
CREATE TABLE to_bounded (id INT, t VARCHAR(4)) WITH ('connector' = 'filesystem', 'path' = '${out}/bounded', 'format' = 'csv');
INSERT INTO to_fixed SELECT * FROM fixed;
INSERT INTO to_bounded SELECT * FROM bounded;
CREATE TABLE found_fixed (id INT, t STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/fixed', 'format' = 'csv');
CREATE TABLE found_bounded (id INT, t STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/bounded', 'format' = 'csv');
SELECT id, t, CHAR_LENGTH(t) FROM found_fixed;
SELECT id, t, CHAR_LENGTH(t) FROM found_bounded;
