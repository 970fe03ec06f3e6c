CREATE TABLE t (a BIGINT, b INT) WITH ('connector' = 'datagen', 'number-of-rows' = '20', 'rows-per-second' = '1000000',
 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '20', 'fields.b.min' = '7', 'fields.b.max' = '7');
SELECT a, b FROM t;
