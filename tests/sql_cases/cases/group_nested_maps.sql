-- uses: nested
-- modes: streaming
SELECT m['k'], m['l'], CARDINALITY(m), n FROM (SELECT m, COUNT(*) AS n FROM nested GROUP BY m);
SELECT MAP['k', xs] AS k, COUNT(*) FROM nested GROUP BY MAP['k', xs];
SELECT ARRAY[m] AS k, COUNT(*) FROM nested WHERE id < 9 GROUP BY ARRAY[m];
SELECT ROW(m, id / 4) AS k, COUNT(*) FROM nested WHERE id < 9 GROUP BY ROW(m, id / 4);
SELECT s, COUNT(*) FROM (SELECT COLLECT(r.b) AS s FROM nested GROUP BY id / 3) GROUP BY s;
