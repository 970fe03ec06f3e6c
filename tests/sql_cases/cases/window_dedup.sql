-- uses: orders
SELECT id, who, window_start FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, who ORDER BY ts DESC) AS rn
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE rn = 1;
SELECT id, item, window_end FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item, window_start, window_end ORDER BY ts ASC) AS rn
  FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE))) WHERE rn = 1;
