-- uses: nested
-- modes: batch
SELECT DISTINCT m FROM nested;
