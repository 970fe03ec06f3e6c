-- uses: orders
SELECT window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
