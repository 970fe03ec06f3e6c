-- uses: orders
-- modes: streaming
SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY who ORDER BY ts MEASURES A.id AS a, C.id AS c, COUNT(C.id) AS n PATTERN (A B)
  DEFINE B AS B.id > A.id, C AS C.id > 3);
SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY who ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE B AS B.id > C.id, C AS C.id > 3);
