-- uses: orders, payments
CREATE TEMPORARY VIEW o AS SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND));
CREATE TEMPORARY VIEW p AS SELECT * FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(ts), INTERVAL '30' SECOND));
SELECT o.id FROM o WHERE EXISTS (
  SELECT * FROM p WHERE o.window_start = p.window_start AND o.window_end = p.window_end AND o.id = p.id);
SELECT o.id, o.window_start FROM o WHERE o.id NOT IN (
  SELECT p.id FROM p WHERE o.window_start = p.window_start AND o.window_end = p.window_end);
