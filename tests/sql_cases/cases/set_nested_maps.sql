-- uses: nested
-- modes: streaming
SELECT m FROM nested WHERE id < 4 UNION SELECT m FROM nested WHERE id > 2 AND id < 9;
SELECT m['k'], m['l'] FROM (SELECT m FROM nested WHERE id < 10 INTERSECT SELECT m FROM nested WHERE id > 3);
SELECT m FROM nested WHERE id < 9 EXCEPT ALL SELECT m FROM nested WHERE id IN (2, 4);
