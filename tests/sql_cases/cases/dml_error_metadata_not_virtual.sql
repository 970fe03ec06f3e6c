CREATE TABLE files (n INT, name STRING METADATA FROM 'file.name') WITH ('connector' = 'filesystem', 'path' = '${out}/f', 'format' = 'csv');
INSERT INTO files VALUES (1, 'a');
