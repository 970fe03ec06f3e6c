SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS l (k, x) NATURAL JOIN (VALUES (1, 'c'), (1, 'd')) AS r (k, y);
