-- uses: prices
-- modes: streaming
SELECT window_start, window_end, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(SESSION(TABLE prices, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY window_start, window_end;
