CREATE TABLE t (a STRING, b STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'csv', 'csv.disable-quote-character' = 'true', 'csv.field-delimiter' = '|');
INSERT INTO t VALUES ('a;b', 'it''s'), ('back\slash', 'two words'), ('"q"', 'a"b'), ('longer than twenty-four letters', '');
CREATE TABLE tr (l STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'raw');
SELECT * FROM tr;
SELECT * FROM t;
