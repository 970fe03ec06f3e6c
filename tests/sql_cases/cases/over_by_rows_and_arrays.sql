-- uses: orders
-- modes: batch
SELECT who, id, SUM(amount) OVER (PARTITION BY who ORDER BY a) FROM (SELECT who, id, amount, ARRAY[item] AS a FROM orders);
SELECT who, id, SUM(amount) OVER (PARTITION BY who ORDER BY a DESC) FROM (SELECT who, id, amount, ROW(item, amount > 2) AS a FROM orders);
