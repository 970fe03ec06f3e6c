-- uses: orders
SELECT window_start, window_end, MAX(n) FROM (SELECT window_start, window_end, who, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, who) AS t GROUP BY window_start, window_end;
