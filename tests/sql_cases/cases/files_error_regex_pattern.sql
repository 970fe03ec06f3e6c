CREATE TABLE bad (id INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '${data}/folder', 'format' = 'csv', 'source.path.regex-pattern' = '(');
SELECT * FROM bad;
