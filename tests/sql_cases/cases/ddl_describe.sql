CREATE TABLE t (
  id BIGINT NOT NULL COMMENT 'the key',
  name VARCHAR(20),
  amount DECIMAL(10, 2),
  twice AS amount * 2,
  ts TIMESTAMP(3),
  p AS PROCTIME(),
  parts ROW<a INT, b ARRAY<STRING>>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'about' PARTITIONED BY (name) WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'json');
DESCRIBE t;
SHOW COLUMNS FROM t;
SHOW COLUMNS FROM t LIKE 'a%';
SHOW CREATE TABLE t;
