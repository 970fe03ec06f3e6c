-- uses: orders
SELECT amount / 2, COUNT(*) FROM orders GROUP BY amount / 2;
SELECT CASE WHEN amount > 2 THEN 'big' ELSE 'small' END AS size, COUNT(*) FROM orders GROUP BY CASE WHEN amount > 2 THEN 'big' ELSE 'small' END;
