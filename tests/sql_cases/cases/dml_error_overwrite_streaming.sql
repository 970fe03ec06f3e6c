-- modes: streaming
CREATE TABLE plain (a INT) WITH ('connector' = 'filesystem', 'path' = '${out}/plain', 'format' = 'csv');
INSERT OVERWRITE plain VALUES (3);
