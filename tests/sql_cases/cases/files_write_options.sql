CREATE TABLE p (id INT, s STRING) PARTITIONED BY (s) WITH ('connector' = 'filesystem', 'path' = '${out}/p', 'format' = 'csv', 'sink.shuffle-by-partition.enable' = 'true', 'source.report-statistics' = 'NONE', 'partition.time-extractor.kind' = 'default');
INSERT INTO p VALUES (1, 'a'), (2, 'b'), (3, 'a');
SELECT * FROM p;
