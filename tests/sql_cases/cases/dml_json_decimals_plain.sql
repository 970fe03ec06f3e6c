-- modes: batch
CREATE TABLE w (d DECIMAL(10, 2), e DECIMAL(12, 0), g ARRAY<DECIMAL(10, 1)>, h DECIMAL(38, 18)) WITH ('connector' = 'filesystem', 'path' = '${out}/w', 'format' = 'json', 'json.encode.decimal-as-plain-number' = 'true');
INSERT INTO w VALUES (CAST('100000.00' AS DECIMAL(10, 2)), CAST('100000' AS DECIMAL(12, 0)), ARRAY[CAST('100' AS DECIMAL(10, 1)), CAST('7.5' AS DECIMAL(10, 1))], CAST('0' AS DECIMAL(38, 18))), (CAST('-12.50' AS DECIMAL(10, 2)), CAST('7' AS DECIMAL(12, 0)), ARRAY[CAST('0' AS DECIMAL(10, 1))], CAST('0.000000000000000001' AS DECIMAL(38, 18)));
CREATE TABLE wr (l STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/w', 'format' = 'raw');
SELECT * FROM wr;
SELECT * FROM w;
