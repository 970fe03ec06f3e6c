-- modes: batch
CREATE TABLE texts (s STRING) WITH ('connector' = 'blackhole');
INSERT INTO texts SELECT PARSE_JSON('1');
