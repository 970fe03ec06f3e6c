-- uses: nested
-- modes: batch
SELECT m, COUNT(*) FROM nested GROUP BY m;
