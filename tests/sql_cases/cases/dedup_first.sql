-- uses: orders
SELECT who, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts) AS rn FROM orders) WHERE rn = 1;
