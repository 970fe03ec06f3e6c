-- uses: beats
-- modes: streaming
SELECT k.id, m.b FROM beats AS k JOIN beats MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A AS A.price > 3) AS m ON m.a = k.id;
SELECT * FROM (SELECT sym, price, ts FROM beats WHERE price > 1) MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES A.price AS a, B.price AS b PATTERN (A B) DEFINE A AS A.price > 3) AS m;
SELECT sym, COUNT(*) AS n, MAX(b) AS b FROM beats MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A AS A.price > 3) AS m WHERE a > 5 GROUP BY sym;
SELECT m.sym, m.a FROM beats MATCH_RECOGNIZE (PARTITION BY sym, price ORDER BY ts MEASURES A.id AS a, B.id AS b, MATCH_ROWTIME() AS rt PATTERN (A B) DEFINE A AS A.price > 1) AS m;
