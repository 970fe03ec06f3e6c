-- uses: orders, payments
SELECT o.id, p.id, o.window_start FROM
  (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND))) o
JOIN (SELECT * FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(ts), INTERVAL '30' SECOND))) p
ON o.window_start = p.window_start AND o.window_end = p.window_end AND o.id = p.id;
