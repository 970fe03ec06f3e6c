-- uses: orders
SELECT window_start, window_end, item, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY window_start, window_end, item;
