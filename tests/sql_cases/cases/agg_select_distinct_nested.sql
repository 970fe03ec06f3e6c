-- uses: nested
SELECT DISTINCT r FROM nested;
SELECT DISTINCT xs, id / 6 FROM nested;
SELECT DISTINCT d FROM nested;
