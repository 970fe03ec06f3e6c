-- How often each page is viewed in each minute. Views come up to five seconds late; what comes later is not counted. The same as a
-- program: views_per_minute.py.
CREATE TABLE views (
  page STRING,
  at_ms BIGINT,
  at AS TO_TIMESTAMP_LTZ(at_ms, 3),
  WATERMARK FOR at AS at - INTERVAL '5' SECOND
)
WITH ('connector' = 'filesystem', 'path' = 'views', 'format' = 'json');

CREATE VIEW per_minute AS
SELECT page, UNIX_TIMESTAMP(CAST(window_start AS STRING)) AS minute_begins, COUNT(*) AS views
FROM TABLE(TUMBLE(TABLE views, DESCRIPTOR(at), INTERVAL '1' MINUTE))
GROUP BY page, window_start, window_end;
