-- uses: orders
WITH a AS (SELECT who, SUM(amount) AS n FROM orders GROUP BY who), b AS (SELECT MAX(n) AS m FROM a) SELECT who, n FROM a, b WHERE n = m;
