-- uses: nested
SELECT xs, COLLECT(xs), COLLECT(r) FROM nested WHERE id < 10 GROUP BY xs;
SELECT id / 3, COLLECT(m), COLLECT(d) FROM nested WHERE id < 3 GROUP BY id / 3;
