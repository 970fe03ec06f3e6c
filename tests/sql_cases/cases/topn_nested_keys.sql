-- uses: nested
SELECT * FROM (SELECT id, r, ROW_NUMBER() OVER (PARTITION BY r ORDER BY id DESC) AS n FROM nested) WHERE n <= 1;
SELECT * FROM (SELECT id, xs, ROW_NUMBER() OVER (PARTITION BY xs ORDER BY id) AS n FROM nested) WHERE n <= 2;
SELECT id, xs FROM (SELECT id, xs, ts, ROW_NUMBER() OVER (PARTITION BY xs ORDER BY ts) AS n FROM nested) WHERE n = 1;
SELECT id, d FROM (SELECT id, d, ts, ROW_NUMBER() OVER (PARTITION BY d ORDER BY ts DESC) AS n FROM nested) WHERE n = 1;
SELECT * FROM (SELECT window_start, r, n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, r ORDER BY n DESC) AS p FROM (
  SELECT window_start, window_end, r, xs, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE nested, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, r, xs)) WHERE p <= 1;
