SELECT k, x, y FROM (VALUES (1, 'a'), (2, 'b')) AS l (k, x) FULL JOIN (VALUES (1, 'c'), (3, 'd')) AS r (k, y) USING (k);
