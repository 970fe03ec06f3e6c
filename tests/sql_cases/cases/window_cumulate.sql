-- uses: orders
SELECT window_start, window_end, COUNT(*), MAX(amount)
FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
