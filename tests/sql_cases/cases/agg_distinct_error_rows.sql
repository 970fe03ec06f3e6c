-- uses: nested
-- modes: streaming
SELECT COUNT(DISTINCT r) FROM nested;
