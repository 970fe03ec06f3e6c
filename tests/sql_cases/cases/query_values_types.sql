SELECT * FROM (VALUES (1, 1.5, 'a', TRUE), (2000000000000, 2, 'abc', FALSE)) AS t (n, d, s, b);
VALUES (1, 'x'), (2, CAST(NULL AS STRING));
