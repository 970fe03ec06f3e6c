-- uses: nested
-- modes: streaming
SELECT xs, COLLECT(xs), COLLECT(DISTINCT xs), COLLECT(r) FROM nested WHERE id < 10 GROUP BY xs;
SELECT r, COLLECT(r), ARRAY_AGG(xs) FROM nested WHERE id < 9 GROUP BY r;
SELECT id / 3, COLLECT(m), COLLECT(d) FROM nested WHERE id < 3 GROUP BY id / 3;
