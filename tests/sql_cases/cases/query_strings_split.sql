SELECT s, SPLIT_INDEX(s, ',', 0), SPLIT_INDEX(s, ',', 2), SPLIT_INDEX(s, ',', 5), INSTR(s, ','), LOCATE('b', s), REGEXP_EXTRACT(s, '([a-z]),([a-z])', 2), REGEXP_REPLACE(s, '[aeiou]', '*'), CONCAT_WS('-', s, CAST(NULL AS STRING), 'z'), OVERLAY(s PLACING '??' FROM 2 FOR 1)
FROM (VALUES ('a,b,c'), (',,'), ('abc'), (CAST(NULL AS STRING))) AS t (s);
