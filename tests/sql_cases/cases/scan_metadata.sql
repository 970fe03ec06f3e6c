CREATE TABLE files (
  n INT, name STRING NOT NULL METADATA FROM 'file.name' VIRTUAL, size BIGINT METADATA FROM 'file.size' VIRTUAL, twice AS n * 2,
  `file.path` STRING METADATA VIRTUAL, changed TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time' VIRTUAL
) WITH ('connector' = 'filesystem', 'path' = '${data}/../metadata', 'format' = 'csv');
DESCRIBE files;
SELECT n, name, size, twice FROM files;
SELECT name, COUNT(*) FROM files WHERE size > 4 AND changed > TO_TIMESTAMP_LTZ(0, 3) GROUP BY name;
SELECT REGEXP_EXTRACT(`file.path`, '(metadata/.*)', 1) FROM files WHERE n = 1;
