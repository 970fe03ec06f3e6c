-- uses: nested
-- modes: streaming
SELECT id, COUNT(*) OVER (PARTITION BY m ORDER BY ts) FROM nested;
