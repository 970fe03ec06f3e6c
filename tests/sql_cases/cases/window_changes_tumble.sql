-- uses: prices
-- modes: streaming
SELECT window_start, COUNT(*) AS n, SUM(price) AS total, MAX(price) AS most
FROM TABLE(TUMBLE(TABLE prices, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
