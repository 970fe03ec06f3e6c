-- uses: orders
SELECT window_start, who, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, who HAVING COUNT(*) > 1;
