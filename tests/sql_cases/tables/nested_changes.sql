CREATE TABLE nested_changes (id INT, r ROW<a INT, b STRING>, xs ARRAY<INT>, m MAP<STRING, INT>, d ROW<f DOUBLE, g ARRAY<ROW<y INT>>>,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${data}/nested_changes.json', 'format' = 'debezium-json');
