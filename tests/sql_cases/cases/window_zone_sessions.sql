-- uses: moments
-- options: table.local-time-zone=America/New_York
-- modes: streaming
SELECT window_start, window_end, window_time, who, COUNT(*) AS n
FROM TABLE(SESSION(TABLE moments PARTITION BY who, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, window_time, who;
SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS s, TUMBLE_END(ts, INTERVAL '1' HOUR) AS e, COUNT(*) AS n
FROM moments GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
