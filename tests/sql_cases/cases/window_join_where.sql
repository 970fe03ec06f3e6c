-- uses: orders, payments
CREATE TEMPORARY VIEW o AS SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND));
CREATE TEMPORARY VIEW p AS SELECT * FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(ts), INTERVAL '30' SECOND));
SELECT o.id, p.id FROM o, p WHERE o.window_start = p.window_start AND o.window_end = p.window_end AND o.who = 'ann' AND p.currency = 'EUR';
SELECT COUNT(*) AS n, window_start FROM (
  SELECT o.window_start, o.window_end FROM o JOIN p ON o.window_start = p.window_start AND o.window_end = p.window_end)
GROUP BY window_start, window_end;
