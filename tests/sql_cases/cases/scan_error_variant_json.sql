-- modes: batch
CREATE TABLE files (v VARIANT) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '${data}/changes.json');
SELECT * FROM files;
