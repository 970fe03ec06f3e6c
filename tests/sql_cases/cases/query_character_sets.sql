-- modes: batch
SELECT _UTF8'x', _UTF8'äß€', _utf8'low', _UTF16'x', _LATIN1'x';
SELECT _LATIN1'ä';
SELECT _UTF-8'x';
SELECT _ISO-8859-1'x';
SELECT _UTF-16LE'x';
SELECT n'x', N'y';
