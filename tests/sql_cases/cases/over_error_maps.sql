-- uses: nested
-- modes: batch
SELECT id, COUNT(*) OVER (PARTITION BY m ORDER BY ts) FROM nested;
