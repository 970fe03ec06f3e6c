-- Bids of each user in ten seconds of processing time.
SELECT bidder, COUNT(*) AS bids, window_start, window_end
FROM TABLE(TUMBLE(TABLE bid_now, DESCRIPTOR(now), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end
