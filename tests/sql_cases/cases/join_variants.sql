-- uses: orders
SELECT a.id, b.id AS other, JSON_STRING(b.v['n']) AS n FROM (SELECT id, PARSE_JSON(CONCAT('{"n": ', CAST(amount AS STRING), '}')) AS v FROM orders) AS a JOIN (SELECT id, TRY_PARSE_JSON(CONCAT('{"n": ', CAST(amount AS STRING), '}')) AS v FROM orders) AS b ON a.v = b.v WHERE a.id < b.id;
SELECT who, COUNT(v) AS c FROM (SELECT who, TRY_PARSE_JSON(item) AS v FROM orders) GROUP BY who;
