CREATE TABLE p (id INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/p', 'format' = 'csv', 'auto-compaction' = 'true', 'compaction.file-size' = '1mb');
INSERT INTO p VALUES (1, 'a'), (2, 'b'), (3, 'a');
SELECT * FROM p;
