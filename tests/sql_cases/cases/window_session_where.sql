-- modes: streaming
-- uses: orders
SELECT who, window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE orders PARTITION BY who, DESCRIPTOR(ts), INTERVAL '20' SECOND)) WHERE amount < 4 GROUP BY who, window_start, window_end;
