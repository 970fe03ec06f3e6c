-- modes: streaming
-- uses: orders
SELECT window_start, COUNT(*) FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
