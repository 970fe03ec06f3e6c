-- uses: arrivals
-- options: parallelism.default=1
CREATE TABLE firsts (who STRING, id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/firsts', 'format' = 'csv');
INSERT INTO firsts SELECT who, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts) AS rn FROM arrivals) WHERE rn = 1;
SELECT who, id FROM firsts;
