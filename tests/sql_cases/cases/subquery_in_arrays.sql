-- uses: nested
SELECT id FROM nested WHERE xs IN (SELECT xs FROM nested WHERE id < 4);
SELECT id FROM nested WHERE xs NOT IN (SELECT xs FROM nested WHERE id = 1);
SELECT id FROM nested AS a WHERE EXISTS (SELECT 1 FROM nested AS b WHERE b.r = a.r AND b.id > a.id);
