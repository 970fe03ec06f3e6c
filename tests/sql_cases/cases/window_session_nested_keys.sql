-- uses: nested
-- modes: streaming
SELECT r, window_start, COUNT(*) FROM TABLE(SESSION(TABLE nested PARTITION BY r, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY r, window_start, window_end;
SELECT xs, SESSION_START(ts, INTERVAL '2' SECOND), COUNT(*) FROM nested GROUP BY xs, SESSION(ts, INTERVAL '2' SECOND);
SELECT m['k'], window_start, n FROM (SELECT m, window_start, COUNT(*) AS n FROM TABLE(SESSION(TABLE nested PARTITION BY m, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY m, window_start, window_end);
SELECT m['k'], window_start, n FROM (SELECT m, window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE nested, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY m, window_start, window_end);
