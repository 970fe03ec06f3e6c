SELECT a < b, a = b, a || b = b || a, GREATEST(a, b), LEAST(a, b) FROM (VALUES ('a', 'B'), ('a', 'a '), ('é', 'z'), ('ab', 'abc')) AS t (a, b);
