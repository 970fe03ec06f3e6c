CREATE TEMPORARY VIEW documents AS SELECT k, PARSE_JSON(j) AS v FROM (VALUES (1, '{"a": [1, 2]}'), (2, 'null'), (3, CAST(NULL AS STRING)), (4, '{"a": [1, 2]}'), (5, '"1"'), (6, '1')) AS t (k, j);
SELECT x.k, y.k AS yk, x.v = y.v AS e, x.v <> y.v AS d, x.v IS DISTINCT FROM y.v AS f FROM documents AS x CROSS JOIN documents AS y WHERE x.k <= y.k;
SELECT x.k, y.k AS yk FROM documents AS x JOIN documents AS y ON x.v = y.v;
SELECT k, v IN (PARSE_JSON('null'), PARSE_JSON('1')) AS i FROM documents;
SELECT k FROM documents WHERE v IN (SELECT v FROM documents WHERE k > 3);
