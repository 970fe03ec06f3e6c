-- uses: orders, prices
-- modes: streaming
SELECT o.id, p.price FROM
  (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND))) o
JOIN (SELECT * FROM TABLE(TUMBLE(TABLE prices, DESCRIPTOR(ts), INTERVAL '30' SECOND))) p
ON o.window_start = p.window_start AND o.window_end = p.window_end AND o.item = p.item;
