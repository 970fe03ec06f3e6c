-- modes: batch
-- ordered: batch
CREATE TEMPORARY VIEW v AS SELECT k, TRY_CAST(t AS DOUBLE) AS x FROM (VALUES ('a', '1'), ('b', 'NaN'), ('c', '-5'), ('d', ''), ('e', 'Infinity'), ('f', '-Infinity'), ('g', 'NaN')) AS w(k, t);
SELECT k, x FROM v ORDER BY x DESC, k;
SELECT k, x FROM v ORDER BY x, k;
SELECT k, ROW_NUMBER() OVER (ORDER BY x DESC, k) AS r FROM v ORDER BY r;
SELECT k, GREATEST(x, CAST(0 AS DOUBLE)) AS g, LEAST(CAST(0 AS DOUBLE), x) AS l, GREATEST(CAST(0 AS DOUBLE), x) AS m, LEAST(x, CAST(0 AS DOUBLE)) AS n FROM v ORDER BY k;
