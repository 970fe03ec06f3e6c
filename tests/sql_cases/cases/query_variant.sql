SELECT k, PARSE_JSON(j) AS v, TRY_PARSE_JSON(j) AS w, PARSE_JSON(j) IS NULL AS n, JSON_STRING(PARSE_JSON(j)) AS s, TYPEOF(PARSE_JSON(j)) AS t
 FROM (VALUES (1, '{"b": [1, 2.50, "x", null, true], "a": {"d": 1e3}}'), (2, 'null'), (3, CAST(NULL AS STRING)), (4, ' 12345678901234567890 '), (5, '"é\u001f"')) AS t (k, j);
SELECT TRY_PARSE_JSON(j) AS v, TRY_PARSE_JSON(j, TRUE) AS w FROM (VALUES ('{"a": 1, "a": 2}'), ('{"a": '), (''), ('1 2'), ('[1e400]')) AS t (j);
SELECT PARSE_JSON(j, b) AS v FROM (VALUES ('{"a": 1, "a": [2]}', TRUE), ('{"a": 3}', FALSE)) AS t (j, b);
