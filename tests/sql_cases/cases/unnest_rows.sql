SELECT id, a, b FROM (VALUES (1, ARRAY[ROW(1, 'x'), ROW(2, 'y')]), (2, ARRAY[ROW(3, 'z')])) AS m (id, rs) CROSS JOIN UNNEST(rs) AS t (a, b);
