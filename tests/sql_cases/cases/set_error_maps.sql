-- uses: nested
-- modes: batch
SELECT m FROM nested UNION SELECT m FROM nested;
