-- Bids of each user while he is active.
SELECT bidder, COUNT(*) AS bids, SESSION_START(date_time, INTERVAL '10' SECOND) AS starttime,
  SESSION_END(date_time, INTERVAL '10' SECOND) AS endtime
FROM bid
GROUP BY bidder, SESSION(date_time, INTERVAL '10' SECOND)
