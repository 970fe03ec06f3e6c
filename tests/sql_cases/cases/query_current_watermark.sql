-- uses: arrivals
-- modes: streaming
-- options: parallelism.default=1
SELECT id FROM arrivals WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts);
SELECT id, CURRENT_WATERMARK(ts) IS NULL AS before_any FROM arrivals WHERE ts < CURRENT_WATERMARK(ts);
