-- uses: numbers
CREATE TABLE n (a BIGINT, ts AS TO_TIMESTAMP_LTZ(a * 1000, 3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'number-of-rows' = '1',
  'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '9');
SELECT COUNT(*) FROM n /*+ OPTIONS('number-of-rows' = '3', 'fields.a.end' = '5') */;
SELECT SUM(x.a) FROM n /*+ OPTIONS('number-of-rows' = '3') */ AS x JOIN n AS y ON x.a = y.a + 1;
CREATE TABLE o (a BIGINT) WITH ('connector' = 'filesystem', 'path' = 'nowhere', 'format' = 'csv');
INSERT INTO o /*+ OPTIONS('path' = '${out}/o', 'csv.field-delimiter' = ';') */ SELECT a FROM n;
SELECT * FROM o /*+ OPTIONS('path' = '${out}/o') */;
