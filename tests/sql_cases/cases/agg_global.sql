-- uses: orders
SELECT COUNT(*), COUNT(amount), SUM(price), AVG(price), MIN(who), MAX(ts) FROM orders;
