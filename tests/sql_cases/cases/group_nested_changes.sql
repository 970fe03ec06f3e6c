-- uses: nested_changes
-- modes: streaming
SELECT r, COUNT(*), MAX(id) FROM nested_changes GROUP BY r;
SELECT xs, COUNT(*), MIN(id) FROM nested_changes GROUP BY xs;
SELECT d, COUNT(*) FROM nested_changes GROUP BY d;
SELECT m['k'], m['l'], n FROM (SELECT m, COUNT(*) AS n FROM nested_changes GROUP BY m);
SELECT DISTINCT r, xs FROM nested_changes;
SELECT COUNT(DISTINCT xs), COUNT(DISTINCT id) FILTER (WHERE id > 3) FROM nested_changes;
SELECT r, SUM(n) FROM (SELECT r, xs, COUNT(*) AS n FROM nested_changes GROUP BY r, xs) GROUP BY r;
