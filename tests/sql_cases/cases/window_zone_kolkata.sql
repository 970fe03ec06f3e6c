-- uses: moments
-- options: table.local-time-zone=Asia/Kolkata
-- modes: batch
SELECT window_start, window_end, COUNT(*) AS n, SUM(n) AS total FROM TABLE(TUMBLE(TABLE moments, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
SELECT window_start, window_end, window_time, who, SUM(n) AS total FROM TABLE(TUMBLE(TABLE moments, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end, window_time, who;
SELECT window_start, window_end, COUNT(*) AS n FROM TABLE(HOP(TABLE moments, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '3' HOUR))
GROUP BY window_start, window_end;
SELECT window_start, window_end, COUNT(DISTINCT who) AS n FROM TABLE(CUMULATE(TABLE moments, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end;
SELECT id, ts, window_start, window_end, window_time FROM TABLE(HOP(TABLE moments, DESCRIPTOR(ts), INTERVAL '2' HOUR, INTERVAL '4' HOUR));
