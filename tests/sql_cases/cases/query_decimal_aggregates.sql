-- uses: orders
SELECT item, SUM(price), AVG(price), MAX(price * amount), SUM(price * amount), COUNT(DISTINCT price) FROM orders GROUP BY item;
