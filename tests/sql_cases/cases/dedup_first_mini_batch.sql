-- uses: arrivals
-- options: parallelism.default=1, table.exec.mini-batch.enabled=true, table.exec.mini-batch.size=100, table.exec.mini-batch.allow-latency=1 s
SELECT who, id, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts ASC) AS rn FROM arrivals) WHERE rn = 1;
