CREATE TEMPORARY VIEW documents AS SELECT k, PARSE_JSON(j) AS v FROM (VALUES (1, '{"a": [10, {"x": "y"}], "b": 1}'), (2, '{"b": null}'), (3, CAST(NULL AS STRING))) AS t (k, j);
SELECT k, v['a'] AS a, v['b'] AS b, v['b'] IS NULL AS bn, v['z'] AS z, v['a'][1] AS a1, v['a'][2]['x'] AS x, v['a'][3] AS a3, v['a'][0] AS a0, v['a'][-1] AS am FROM documents;
SELECT k, v['a'][k] AS ak, v['a'][CAST(k AS BIGINT)] AS al, v['a'][CAST(2 AS TINYINT)] AS a2, v[CAST(NULL AS STRING)] AS n, v['a'][CAST(NULL AS INT)] AS i FROM documents;
