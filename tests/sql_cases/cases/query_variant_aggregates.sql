CREATE TEMPORARY VIEW documents AS SELECT k, PARSE_JSON(j) AS v FROM (VALUES (1, '{"a": [1, 2]}'), (1, 'null'), (2, CAST(NULL AS STRING)), (2, '3')) AS t (k, j);
SELECT k, COUNT(v) AS c, LAST_VALUE(v) AS l, FIRST_VALUE(v) AS f FROM documents GROUP BY k;
SELECT k, ARRAY_AGG(v) AS a FROM documents GROUP BY k;
SELECT JSON_ARRAYAGG(v) AS j FROM documents WHERE k = 1;
