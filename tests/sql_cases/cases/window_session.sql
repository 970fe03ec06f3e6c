-- uses: orders
-- modes: streaming
SELECT window_start, window_end, who, COUNT(*)
FROM TABLE(SESSION(TABLE orders PARTITION BY who, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY window_start, window_end, who;
