-- uses: orders
-- modes: streaming
SELECT window_start, window_end, COUNT(*) AS n, SUM(amount) AS total
FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE amount > 1 GROUP BY window_start, window_end;
SELECT window_start, window_end, who, COUNT(DISTINCT item) AS items
FROM TABLE(SESSION(TABLE orders PARTITION BY who, DESCRIPTOR(ts), INTERVAL '20' SECOND)) WHERE amount > 1 GROUP BY window_start, window_end, who;
SELECT window_start, window_end, item, COUNT(*) AS n
FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, item;
