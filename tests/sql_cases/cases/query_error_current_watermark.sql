-- uses: arrivals
-- modes: streaming
SELECT CURRENT_WATERMARK(id) FROM arrivals;
