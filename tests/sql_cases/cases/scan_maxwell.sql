-- modes: streaming
CREATE TABLE m (id INT, name STRING, weight DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${data}/maxwell.json', 'format' = 'maxwell-json');
SELECT * FROM m;
