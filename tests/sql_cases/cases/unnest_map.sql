SELECT id, k, v FROM (VALUES (1, MAP['a', 1, 'b', 2]), (2, MAP['c', 3])) AS m (id, vs), UNNEST(m.vs) AS t (k, v);
