-- options: table.exec.sink.nested-constraint-enforcer=ROWS
CREATE TABLE texts (id INT, r ROW<x INT, y INT>, s ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = '${out}/texts', 'format' = 'json');
INSERT INTO texts VALUES (1, ROW(1, 2), ARRAY[1]), (2, ROW(3, 2), ARRAY[1, CAST(NULL AS INT)]);
CREATE TABLE strict (id INT, r ROW<x INT NOT NULL, y INT>, s ARRAY<INT NOT NULL>) WITH ('connector' = 'filesystem', 'path' = '${out}/strict', 'format' = 'json');
INSERT INTO strict SELECT * FROM texts;
CREATE TABLE found (id INT, r ROW<x INT, y INT>, s ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = '${out}/strict', 'format' = 'json');
SELECT * FROM found;
