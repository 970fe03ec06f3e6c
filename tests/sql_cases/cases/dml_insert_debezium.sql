-- modes: streaming
CREATE TABLE c (id INT NOT NULL, name STRING, at_time TIMESTAMP(3), price DECIMAL(6, 2)) WITH ('connector' = 'filesystem', 'path' = '${out}/c', 'format' = 'debezium-json');
INSERT INTO c VALUES (1, 'hammer', TIMESTAMP '2024-01-02 03:04:05.678', 2.50), (2, 'säge', CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS DECIMAL(6, 2)));
CREATE TABLE lines (l STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/c', 'format' = 'raw');
SELECT * FROM lines;
SELECT * FROM c;
CREATE TABLE counts (k INT, n BIGINT NOT NULL) WITH ('connector' = 'filesystem', 'path' = '${out}/counts', 'format' = 'debezium-json', 'debezium-json.encode.decimal-as-plain-number' = 'true', 'debezium-json.timestamp-format.standard' = 'ISO-8601');
INSERT INTO counts SELECT k, COUNT(*) AS n FROM (VALUES (1), (2), (1)) AS v (k) GROUP BY k;
SELECT * FROM counts;
