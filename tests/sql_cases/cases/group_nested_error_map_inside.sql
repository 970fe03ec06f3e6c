-- uses: nested
-- modes: batch
SELECT ROW(m, id) AS k, COUNT(*) FROM nested GROUP BY ROW(m, id);
