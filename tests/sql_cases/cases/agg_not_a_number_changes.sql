-- uses: nested_changes, nested
-- modes: streaming
CREATE TEMPORARY VIEW c AS SELECT id, d.f AS f, r.b AS b, CAST(d.f AS FLOAT) AS g FROM nested_changes;
SELECT c.id, n.id AS other FROM c JOIN nested AS n ON c.f = n.d.f;
SELECT c.id, n.id AS other FROM c LEFT JOIN nested AS n ON c.b = n.r.b AND n.id < 3;
SELECT c.id, n.id AS other FROM nested AS n RIGHT JOIN c ON c.g = CAST(n.d.f AS FLOAT);
SELECT c.id, c.f FROM c WHERE c.f IN (SELECT d.f FROM nested);
SELECT c.id, c.f FROM c WHERE NOT EXISTS (SELECT 1 FROM nested AS n WHERE n.d.f = c.f AND n.id > 3);
SELECT id, f, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY f DESC, id) AS rn FROM c) WHERE rn <= 2;
SELECT b, MAX(f) AS m, MIN(g) AS l, COUNT(DISTINCT f) AS n, COUNT(DISTINCT g) AS o, COLLECT(f) AS s FROM c GROUP BY b;
SELECT f, COUNT(*) AS n, COUNT(DISTINCT id) AS m FROM c GROUP BY f;
SELECT f, LAST_VALUE(id) AS l FROM c GROUP BY f;
SELECT MAX(f) AS m, MIN(f) AS l, SUM(f) AS s, FIRST_VALUE(f) AS g FROM c;
SELECT DISTINCT f, g FROM c;
SELECT f FROM c EXCEPT SELECT d.f FROM nested WHERE id < 3;
SELECT f FROM c INTERSECT ALL SELECT d.f FROM nested;
SELECT id, f FROM c UNION SELECT id, d.f FROM nested;
SELECT f, ARRAY_AGG(g) AS a, LISTAGG(CAST(g AS STRING)) AS t FROM c GROUP BY f;
SELECT AVG(f) AS a, STDDEV_POP(f) AS s, COUNT(f) AS n FROM c WHERE id <> 4;
