SELECT s, s LIKE 'a%', s LIKE '_b%', s LIKE 'a!_%' ESCAPE '!', s NOT LIKE '%c', s SIMILAR TO '(a|b)+' FROM (VALUES ('abc'), ('a_c'), ('ab'), ('')) AS t (s);
