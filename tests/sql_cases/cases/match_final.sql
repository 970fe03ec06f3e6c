-- uses: beats
-- modes: streaming
SELECT * FROM beats MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES FINAL FIRST(A.id) AS a, FINAL LAST(A.id, 1) AS a1, FINAL COUNT(A.id) AS n, FINAL SUM(A.price) AS s, LAST(B.id) AS b PATTERN (A+ B) DEFINE A AS A.price > 2);
