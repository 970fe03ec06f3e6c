-- modes: streaming
CREATE TABLE o (id INT, name STRING, weight DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${data}/ogg.json', 'format' = 'ogg-json');
SELECT * FROM o;
