-- uses: moments
-- options: table.local-time-zone=America/New_York
-- modes: streaming
SELECT id, window_start FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS rn
  FROM TABLE(TUMBLE(TABLE moments, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE rn = 1;
SELECT a.id, b.id, a.window_start FROM
  (SELECT * FROM TABLE(TUMBLE(TABLE moments, DESCRIPTOR(ts), INTERVAL '1' HOUR))) a
JOIN (SELECT * FROM TABLE(TUMBLE(TABLE moments, DESCRIPTOR(ts), INTERVAL '1' HOUR))) b
ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.who = b.who;
