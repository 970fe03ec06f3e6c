-- uses: orders
SELECT who, SUM(amount) AS total FROM orders GROUP BY who HAVING SUM(amount) > 4;
