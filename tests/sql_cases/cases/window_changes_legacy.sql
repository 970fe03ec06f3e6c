-- uses: prices
-- modes: streaming
SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) AS s, COUNT(*) AS n, SUM(price) AS total FROM prices GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE);
