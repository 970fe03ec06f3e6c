-- uses: orders
-- modes: streaming
SELECT * FROM TO_CHANGELOG(input => (SELECT ts, COUNT(*) AS n FROM orders GROUP BY ts), on_time => DESCRIPTOR(ts));
