-- modes: batch
CREATE TEMPORARY VIEW documents AS SELECT k, PARSE_JSON(j) AS v FROM (VALUES (1, '{"a": 1}'), (2, '[1]')) AS t (k, j);
SELECT v, COUNT(*) FROM documents GROUP BY v;
