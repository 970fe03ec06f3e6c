-- uses: orders
SELECT who, COUNT(*) FROM (SELECT who FROM orders UNION ALL SELECT item FROM orders) AS t GROUP BY who;
