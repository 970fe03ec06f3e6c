-- uses: orders
-- modes: streaming
SELECT a.id, b.id, a.window_start, b.window_end FROM
  (SELECT * FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '20' SECOND))) a
JOIN (SELECT * FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '20' SECOND))) b
ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.item = b.item AND a.id < b.id;
