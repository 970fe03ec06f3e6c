-- uses: orders
SELECT window_start, item, SUM(amount) FROM TABLE(HOP(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '15' SECOND, SIZE => INTERVAL '30' SECOND)) GROUP BY window_start, window_end, item;
