-- The highest bid of each ten seconds.
SELECT b.auction, b.price, b.bidder, b.date_time, b.extra
FROM bid AS b
JOIN (
  SELECT MAX(price) AS price, window_end
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) AS top
ON b.price = top.price
WHERE b.date_time BETWEEN top.window_end - INTERVAL '10' SECOND AND top.window_end
