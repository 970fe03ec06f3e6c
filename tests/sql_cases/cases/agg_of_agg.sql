-- uses: orders
SELECT n, COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM orders GROUP BY who) GROUP BY n;
