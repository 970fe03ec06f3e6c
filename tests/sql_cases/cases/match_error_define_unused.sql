-- uses: orders
-- modes: streaming
SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY who ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE C AS C.id);
