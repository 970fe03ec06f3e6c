-- modes: streaming
CREATE TABLE minutes (id INT, who STRING, gate INT, moment TIMESTAMP(3), ts AS FLOOR(moment TO MINUTE), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${data}/arrivals.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT who, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts) AS rn FROM minutes) WHERE rn = 1;
