CREATE TABLE short (id INT, c CHAR(3), v VARCHAR(2)) WITH ('connector' = 'filesystem', 'path' = '${out}/short', 'format' = 'csv');
INSERT INTO short SELECT id, CAST(t AS CHAR(5)), t FROM (VALUES (1, CAST('abcdef' AS STRING)), (2, 'a'), (3, CAST(NULL AS STRING))) AS v (id, t);
CREATE TABLE found (id INT, c STRING, v STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/short', 'format' = 'csv');
SELECT id, c, CHAR_LENGTH(c), v FROM found;
