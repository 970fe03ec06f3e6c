-- uses: beats
-- modes: streaming
SELECT * FROM beats MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES LISTAGG(A.sym) AS b, FIRST_VALUE(A.id) AS d PATTERN (A+ B) DEFINE A AS A.price > 2);
SELECT * FROM beats MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES COUNT(*) AS a, SUM(A.price) / COUNT(A.price) AS c, AVG(CAST(A.price AS DOUBLE)) AS d, MAX(B.id) - MIN(A.id) AS e, LAST(A.id) + LAST(B.id) AS f PATTERN (A+ B) DEFINE A AS A.price > 2);
SELECT * FROM beats MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES FIRST(A.id) AS a, LAST(A.id) AS l, B.id AS b PATTERN (A+ B) DEFINE A AS A.price > 1 AND SUM(A.price) < 12 AND COUNT(A.id) <= 4, B AS B.price < AVG(A.price) AND MAX(A.price) - MIN(A.price) > 0 AND COUNT(*) > 2);
