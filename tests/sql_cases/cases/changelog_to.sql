-- uses: arrivals
-- modes: streaming
CREATE VIEW counts AS SELECT id, COUNT(*) AS n, MAX(who) AS who FROM arrivals GROUP BY id;
SELECT * FROM TO_CHANGELOG(input => TABLE counts);
SELECT * FROM TO_CHANGELOG(TABLE arrivals, DESCRIPTOR(kind));
SELECT * FROM TO_CHANGELOG(input => (SELECT id, COUNT(*) AS n FROM arrivals GROUP BY id), op => DESCRIPTOR(kind), op_mapping => MAP['INSERT, UPDATE_AFTER', 'put', 'DELETE', 'del']);
SELECT * FROM TO_CHANGELOG(input => TABLE counts, op_mapping => MAP['DELETE', 'del']);
SELECT id, rowtime FROM TO_CHANGELOG(input => TABLE arrivals, on_time => DESCRIPTOR(ts), uid => 'told');
