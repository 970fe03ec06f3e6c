-- modes: batch
CREATE TABLE nowhere (a INT) WITH ('connector' = 'blackhole');
INSERT OVERWRITE nowhere VALUES (3);
