-- uses: ticks
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES FIRST(A.id, 1) AS f1, LAST(A.id, 2) AS l2, FIRST(A.price * 2) + LAST(B.price) AS both_, LAST(id) AS last_id, FIRST(id) AS first_id, LAST(id, 1) AS last1, UPPER(A.sym) AS u, B.tax AS tax, 1 AS uno
 ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A+ B)  DEFINE A AS A.price > FIRST(A.price) OR COUNT(A.id) = 1, B AS B.price < LAST(A.price, 1)) AS m;
