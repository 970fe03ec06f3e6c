-- uses: orders
-- modes: streaming
SELECT * FROM orders MATCH_RECOGNIZE (ORDER BY ts MEASURES A.id AS first_id, LAST(B.id) AS last_id
 ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) DEFINE A AS A.amount < 4, B AS B.amount >= 2, C AS C.amount < 2);
