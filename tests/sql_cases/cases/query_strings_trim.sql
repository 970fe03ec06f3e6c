SELECT '[' || TRIM(s) || ']', '[' || TRIM(LEADING 'x' FROM s) || ']', '[' || TRIM(TRAILING 'x' FROM s) || ']', '[' || TRIM(BOTH 'x ' FROM s) || ']', LTRIM(s), RTRIM(s), BTRIM(s, 'x')
FROM (VALUES ('  a '), ('xxbxx'), (' x '), ('')) AS t (s);
