CREATE TABLE t (a STRING, b STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv', 'csv.escape-character' = '\', 'csv.field-delimiter' = ';', 'csv.quote-character' = '''');
INSERT INTO t VALUES ('a;b', 'it''s'), ('back\slash', 'plain'), ('two words', 'a"b'), ('<', 'a:b');
CREATE TABLE tr (l STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'raw');
SELECT * FROM tr;
SELECT * FROM t;
