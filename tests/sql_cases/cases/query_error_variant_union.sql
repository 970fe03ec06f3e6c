-- modes: batch
CREATE TEMPORARY VIEW documents AS SELECT k, PARSE_JSON(j) AS v FROM (VALUES (1, '{"a": 1}'), (2, '[1]')) AS t (k, j);
SELECT v FROM documents UNION SELECT v FROM documents;
