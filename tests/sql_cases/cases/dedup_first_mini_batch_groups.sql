-- uses: arrivals
-- modes: streaming
-- options: parallelism.default=1, table.exec.mini-batch.enabled=true, table.exec.mini-batch.size=3, table.exec.mini-batch.allow-latency=1 s
SELECT gate, MIN(id) AS least, MAX(who) AS last_one, COUNT(DISTINCT who) AS people, SUM(DISTINCT id) AS ids
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts ASC) AS rn FROM arrivals) WHERE rn = 1 GROUP BY gate;
