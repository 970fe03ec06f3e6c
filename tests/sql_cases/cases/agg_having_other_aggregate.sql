-- uses: orders
SELECT who FROM orders GROUP BY who HAVING SUM(amount) > 5 AND MIN(price) < 2;
