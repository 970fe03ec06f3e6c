CREATE TABLE files (n INT, owner STRING METADATA FROM 'file.owner' VIRTUAL) WITH ('connector' = 'filesystem', 'path' = '${data}', 'format' = 'csv');
SELECT n, owner FROM files;
