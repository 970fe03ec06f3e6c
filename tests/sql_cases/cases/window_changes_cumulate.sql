-- uses: prices
-- modes: streaming
SELECT window_end, COUNT(*) AS n, AVG(price) AS mean
FROM TABLE(CUMULATE(TABLE prices, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
