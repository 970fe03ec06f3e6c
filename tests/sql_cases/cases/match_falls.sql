-- uses: ticks
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES A.ts AS start_ts, LAST(DOWN.ts) AS low_ts, LAST(UP.ts) AS end_ts, LAST(DOWN.price) AS low, UP.price AS up
 ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A DOWN+ UP)  DEFINE DOWN AS (LAST(DOWN.price, 1) IS NULL AND DOWN.price < A.price) OR DOWN.price < LAST(DOWN.price, 1), UP AS UP.price > LAST(DOWN.price)) AS m;
