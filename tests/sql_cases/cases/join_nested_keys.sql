-- uses: nested
SELECT a.id, b.id FROM nested AS a JOIN nested AS b ON a.r = b.r AND a.id < b.id;
SELECT a.id, b.id FROM nested AS a LEFT JOIN nested AS b ON a.xs = b.xs AND a.id < b.id;
SELECT a.id, b.id FROM nested AS a JOIN nested AS b ON a.d = b.d AND a.id <> b.id;
