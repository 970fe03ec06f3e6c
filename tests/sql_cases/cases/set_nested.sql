-- uses: nested
SELECT r, xs FROM nested WHERE id < 4 UNION SELECT r, xs FROM nested WHERE id > 2;
SELECT r FROM nested WHERE id < 6 INTERSECT SELECT r FROM nested WHERE id > 3;
SELECT xs FROM nested WHERE id < 6 EXCEPT SELECT xs FROM nested WHERE id > 7;
SELECT d FROM nested WHERE id < 6 INTERSECT ALL SELECT d FROM nested WHERE id > 3;
SELECT xs FROM nested WHERE id < 6 EXCEPT ALL SELECT xs FROM nested WHERE id > 7;
