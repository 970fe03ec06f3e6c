CREATE TABLE documents (v VARIANT, n VARIANT NOT NULL, a ARRAY<VARIANT>, m MAP<STRING, VARIANT NOT NULL>, r ROW<x VARIANT>) WITH ('connector' = 'blackhole');
DESCRIBE documents;
CREATE TABLE few (v VARIANT, k INT) WITH ('connector' = 'blackhole');
INSERT INTO few SELECT PARSE_JSON('{"a": 1}'), 1;
CREATE TABLE generated (k INT, v AS PARSE_JSON('[1, 2]')) WITH ('connector' = 'datagen', 'number-of-rows' = '2', 'fields.k.kind' = 'sequence', 'fields.k.start' = '1', 'fields.k.end' = '2');
SELECT k, v, v[k] AS x FROM generated;
SELECT CAST(NULL AS VARIANT) AS n;
