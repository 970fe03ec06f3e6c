-- modes: batch
SELECT JSON_QUOTE('a/b"' || CHR(31) || CHR(9) || CHR(92) || CHR(127) || 'é') AS q, JSON_UNQUOTE(JSON_QUOTE('a/b"' || CHR(9) || CHR(92))) AS u;
