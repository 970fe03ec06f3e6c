-- uses: arrivals
-- options: parallelism.default=1
SELECT who, id, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts ASC) AS rn FROM arrivals) WHERE rn = 1;
SELECT id, rn FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY ts) AS rn FROM arrivals WHERE gate > 12) WHERE rn = 1;
