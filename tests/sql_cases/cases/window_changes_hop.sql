-- uses: prices
-- modes: streaming
SELECT window_start, window_end, item, COUNT(*) AS n, COUNT(DISTINCT price) AS prices
FROM TABLE(HOP(TABLE prices, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item;
