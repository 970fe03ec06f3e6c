-- uses: orders
SELECT id, who, window_start, window_end, window_time
FROM TABLE(SESSION(TABLE orders PARTITION BY who, DESCRIPTOR(ts), INTERVAL '20' SECOND));
SELECT id, window_start, window_end FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE amount > 1;
