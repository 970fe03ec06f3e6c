SELECT JSON_VALUE(j, '$.a'), JSON_QUERY(j, '$.b'), JSON_EXISTS(j, '$.c'), j IS JSON OBJECT, JSON_VALUE(j, '$.c' DEFAULT 'no' ON EMPTY), JSON_OBJECT('k' VALUE 1, 'l' VALUE j), JSON_ARRAY(1, 'a', 2.5)
FROM (VALUES ('{"a": "x", "b": [1, 2]}'), ('{"c": null}'), ('[]')) AS t (j);
