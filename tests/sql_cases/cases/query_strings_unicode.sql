SELECT s, CHAR_LENGTH(s), UPPER(s), LOWER(s), REVERSE(s), SUBSTRING(s, 2, 2), POSITION('ß' IN s), LPAD(s, 7, '*'), RPAD(s, 3, 'é'), REPLACE(s, 'a', 'ä'), LEFT(s, 2), RIGHT(s, 2)
FROM (VALUES ('Straße'), ('日本語'), ('naïve é'), ('')) AS t (s);
