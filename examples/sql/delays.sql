-- How many flights leave each airport late, hour by hour of their planned departure, and the longest delay of each carrier.
CREATE TABLE flights (
  carrier STRING,
  number INT,
  origin STRING,
  departure_ms BIGINT,
  delay_min INT,
  departure AS TO_TIMESTAMP_LTZ(departure_ms, 3),
  WATERMARK FOR departure AS departure - INTERVAL '1' MINUTE
)
WITH ('connector' = 'filesystem', 'path' = '.cache/flights/replay-1', 'format' = 'parquet');

CREATE TABLE late_by_hour (origin STRING, hour_begins TIMESTAMP(3), flights BIGINT, late BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'late_by_hour', 'format' = 'csv');

CREATE TABLE worst (carrier STRING, longest INT, PRIMARY KEY (carrier) NOT ENFORCED)
WITH ('connector' = 'print');

BEGIN STATEMENT SET;
INSERT INTO late_by_hour
SELECT origin, CAST(window_start AS TIMESTAMP(3)), COUNT(*), COUNT(*) FILTER (WHERE delay_min > 15)
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(departure), INTERVAL '1' HOUR))
GROUP BY origin, window_start, window_end;
INSERT INTO worst SELECT carrier, MAX(delay_min) FROM flights GROUP BY carrier;
END;
