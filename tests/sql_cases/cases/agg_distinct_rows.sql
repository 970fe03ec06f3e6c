-- uses: nested
-- modes: batch
SELECT COUNT(DISTINCT r), COUNT(DISTINCT d), COUNT(DISTINCT r) FILTER (WHERE id > 4) FROM nested;
SELECT id / 4, COUNT(DISTINCT r) FROM nested GROUP BY id / 4;
