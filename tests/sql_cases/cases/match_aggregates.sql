-- uses: ticks
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES FIRST(A.id) AS f, LAST(A.id) AS l, AVG(A.price) AS av, SUM(A.price * 2) AS s, COUNT(*) AS n, MIN(A.tax) AS mi, MAX(A.price + A.id) AS ma, SUM(price) AS total, COUNT(A.price) AS na, SUM(A.tax) AS t, COUNT(B.id) AS nb
 ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B)  DEFINE A AS AVG(A.price) < 18 AND COUNT(A.id) < 5, B AS B.price > SUM(A.price) / COUNT(A.id) OR B.price IS NULL) AS m;
