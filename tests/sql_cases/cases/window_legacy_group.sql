-- uses: orders
SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE), item, SUM(amount) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), item;
