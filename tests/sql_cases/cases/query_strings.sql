-- uses: numbers
SELECT id, UPPER(s), CHAR_LENGTH(s), SUBSTRING(s FROM 2 FOR 3), TRIM(s), s LIKE 't%', s || '/' || s FROM numbers;
