SELECT p, 'Abc' SIMILAR TO p, 'abc' SIMILAR TO p, 'a.c' SIMILAR TO p, '^a' SIMILAR TO p, 'a$' SIMILAR TO p, 'a' || CHR(10) || 'c' SIMILAR TO p
FROM (VALUES ('[A-C].*'), ('a.c'), ('a_c'), ('a%c'), ('^a'), ('a$'), ('(a|A)bc'), ('[^x]bc'), ('.{3}'), ('a[.]c'), ('%')) AS t (p);
