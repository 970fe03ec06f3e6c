SELECT a + b, a - b, a * b, a / b, MOD(a, b), -a, a * 2, a / 3, a + 1.5e0
FROM (VALUES (CAST(10.25 AS DECIMAL(10, 2)), CAST(3.1 AS DECIMAL(4, 1))), (CAST(-0.01 AS DECIMAL(10, 2)), CAST(0.3 AS DECIMAL(4, 1)))) AS t (a, b);
