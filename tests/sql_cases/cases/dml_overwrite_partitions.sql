-- modes: batch
CREATE TABLE parts (a INT, p STRING, q INT) PARTITIONED BY (p, q) WITH ('connector' = 'filesystem', 'path' = '${out}/parts', 'format' = 'csv');
INSERT INTO parts VALUES (1, 'x', 1), (2, 'x', 2), (3, 'y', 1), (4, 'y', 2);
INSERT OVERWRITE parts VALUES (5, 'x', 1);
SELECT * FROM parts;
INSERT OVERWRITE parts PARTITION (p = 'y') SELECT * FROM (VALUES (6, 1)) AS t (a, q);
SELECT * FROM parts;
INSERT OVERWRITE parts PARTITION (p = 'x', q = 2) SELECT a FROM (VALUES (7)) AS t (a) WHERE a < 0;
SELECT * FROM parts;
INSERT OVERWRITE parts PARTITION (p = 'z', q = 9) SELECT 8;
SELECT * FROM parts;
