-- uses: orders
SELECT who, SUM(amount), SUM(amount) + 1, COUNT(*) AS a, COUNT(*) AS b FROM orders GROUP BY who;
