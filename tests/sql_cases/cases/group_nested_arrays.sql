-- uses: nested
SELECT xs, COUNT(*), MIN(id) FROM nested GROUP BY xs;
SELECT ARRAY[r] AS k, COUNT(*) FROM nested GROUP BY ARRAY[r];
SELECT ARRAY[r.a, id / 4] AS k, COUNT(*) FROM nested GROUP BY ARRAY[r.a, id / 4];
