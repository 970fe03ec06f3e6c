-- uses: arrivals, ticks
-- modes: streaming
CREATE TEMPORARY VIEW seen AS SELECT * FROM arrivals WHERE id IN (SELECT id FROM ticks);
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE seen, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
