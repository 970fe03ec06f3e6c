-- modes: batch
CREATE TABLE plain (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/plain', 'format' = 'csv');
INSERT INTO plain VALUES (1, 'x'), (2, 'y');
INSERT OVERWRITE plain VALUES (3, 'z');
SELECT * FROM plain;
INSERT INTO plain VALUES (4, 'w');
SELECT * FROM plain;
INSERT OVERWRITE plain SELECT * FROM (VALUES (5, 'v')) AS t (a, b) WHERE a < 0;
SELECT * FROM plain;
