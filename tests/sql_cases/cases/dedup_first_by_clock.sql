-- uses: arrivals
-- modes: streaming
SELECT COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY now) AS rn FROM (SELECT *, PROCTIME() AS now FROM arrivals)) WHERE rn = 1;
