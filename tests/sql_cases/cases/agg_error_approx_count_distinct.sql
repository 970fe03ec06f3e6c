-- uses: orders
-- modes: streaming
SELECT APPROX_COUNT_DISTINCT(who) FROM orders;
