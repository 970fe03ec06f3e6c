-- uses: nested
SELECT COUNT(DISTINCT m) FROM nested;
