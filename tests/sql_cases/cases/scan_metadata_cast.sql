CREATE TABLE files (p STRING, n INT, size STRING METADATA FROM 'file.size' VIRTUAL, name STRING METADATA FROM 'file.name')
PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '${data}/../metadata_parts', 'format' = 'csv');
SELECT n, size || ' bytes', name FROM files;
