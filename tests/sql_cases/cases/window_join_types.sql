-- uses: orders, payments
-- modes: streaming
SELECT o.id, p.id, p.ts FROM
  (SELECT *, CAST(id AS BIGINT) AS big FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND))) AS o
JOIN TABLE(HOP(TABLE payments, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) AS p
ON o.window_end = p.window_end AND o.window_start = p.window_start AND o.big = p.id;
SELECT a.id, b.id FROM
  (SELECT * FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE))) a
JOIN (SELECT * FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE))) b
ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.who IS NOT DISTINCT FROM b.who AND a.id <> b.id;
