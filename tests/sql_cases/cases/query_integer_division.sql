SELECT a / b, MOD(a, b), a / 2.0, CAST(a AS DOUBLE) / b, a % b FROM (VALUES (7, 2), (-7, 2), (7, -2), (0, 5)) AS t (a, b);
