-- uses: nested
SELECT r, id / 4, COUNT(*) FROM nested GROUP BY GROUPING SETS ((r), (id / 4), ());
SELECT xs, r, GROUPING(xs), COUNT(*) FROM nested GROUP BY ROLLUP (xs, r);
