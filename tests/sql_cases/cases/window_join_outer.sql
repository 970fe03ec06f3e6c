-- uses: orders, payments
CREATE TEMPORARY VIEW o AS SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND));
CREATE TEMPORARY VIEW p AS SELECT * FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(ts), INTERVAL '30' SECOND));
SELECT o.id, p.id, o.window_end, p.window_start FROM o LEFT JOIN p ON o.window_start = p.window_start AND o.window_end = p.window_end AND o.id = p.id;
SELECT o.id, p.id, p.window_time FROM o RIGHT JOIN p ON o.window_start = p.window_start AND o.window_end = p.window_end AND o.id = p.id;
SELECT o.id, p.id FROM o FULL JOIN p ON o.window_start = p.window_start AND o.window_end = p.window_end AND o.id = p.id AND o.amount < p.amount;
