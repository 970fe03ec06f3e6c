-- uses: orders
SELECT who, COUNT(*) FILTER (WHERE amount > 2), SUM(amount) FILTER (WHERE item = 'apple') FROM orders GROUP BY who;
