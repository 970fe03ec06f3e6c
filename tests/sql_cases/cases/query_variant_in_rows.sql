CREATE TEMPORARY VIEW documents AS SELECT k, PARSE_JSON(j) AS v FROM (VALUES (1, '{"a": [1, 2]}'), (2, 'null'), (3, CAST(NULL AS STRING))) AS t (k, j);
SELECT ARRAY[v, v] AS a, MAP['x', v] AS m, ROW(v, k) AS r, CAST(ARRAY[v] AS STRING) AS s FROM documents;
SELECT CASE WHEN k = 1 THEN v ELSE NULL END AS c, COALESCE(v, PARSE_JSON('0')) AS o, IFNULL(v, PARSE_JSON('[]')) AS i FROM documents;
SELECT JSON_OBJECT('x' VALUE v) AS o, JSON_QUERY(v, '$.a') AS q FROM documents;
SELECT k, u.x FROM (SELECT k, ARRAY[v, TRY_PARSE_JSON('"x"')] AS a FROM documents) CROSS JOIN UNNEST(a) AS u (x);
SELECT v FROM documents UNION ALL SELECT v FROM documents WHERE k = 1;
