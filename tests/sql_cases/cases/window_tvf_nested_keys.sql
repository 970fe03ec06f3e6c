-- uses: nested
SELECT r, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE nested, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY r, window_start, window_end;
SELECT xs, window_start, MAX(id) FROM TABLE(HOP(TABLE nested, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY xs, window_start, window_end;
SELECT window_start, COUNT(DISTINCT xs) FROM TABLE(TUMBLE(TABLE nested, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT xs, TUMBLE_START(ts, INTERVAL '5' SECOND), COUNT(*) FROM nested GROUP BY xs, TUMBLE(ts, INTERVAL '5' SECOND);
