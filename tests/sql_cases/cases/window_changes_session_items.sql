-- uses: prices
-- modes: streaming
SELECT window_start, window_end, item, COUNT(*) AS n, MAX(price) AS most, MIN(price) AS least
FROM TABLE(SESSION(TABLE prices PARTITION BY item, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY window_start, window_end, item;
