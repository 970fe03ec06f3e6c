-- uses: arrivals
-- options: parallelism.default=1
CREATE VIEW firsts AS SELECT who, id, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts) AS rn FROM arrivals) WHERE rn = 1;
SELECT window_start, COUNT(*) AS n, MIN(id) AS id FROM TABLE(TUMBLE(TABLE firsts, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
