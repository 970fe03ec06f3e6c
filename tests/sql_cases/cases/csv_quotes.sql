CREATE TABLE q (a STRING, b STRING, c ARRAY<STRING>) WITH ('connector' = 'filesystem', 'path' = '${out}/q', 'format' = 'csv');
INSERT INTO q VALUES ('plain', 'two words', ARRAY['x', 'y']), ('a+b', 'it''s', ARRAY['x y']), ('#begin', 'tab	tab', ARRAY['']), ('longer than twenty-four letters', 'twenty-fourlettersexactly', ARRAY['z', 'longer than twenty-four letters']), ('comma,', 'quote"', ARRAY['comma,']), ('', 'ümlaut', ARRAY['-']), ('-', '1', ARRAY['/']), ('back\slash', '~tilde', ARRAY['&']);
CREATE TABLE qr (l STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/q', 'format' = 'raw');
SELECT * FROM qr;
SELECT * FROM q;
