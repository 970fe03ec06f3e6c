-- uses: orders
-- modes: streaming
SELECT id, who, amount, window_start, window_end FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, who ORDER BY amount DESC) AS rn
  FROM TABLE(SESSION(TABLE orders PARTITION BY who, DESCRIPTOR(ts), INTERVAL '20' SECOND)) WHERE amount IS NOT NULL) WHERE rn = 1;
