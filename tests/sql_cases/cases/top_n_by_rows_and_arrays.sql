-- uses: orders
SELECT who, id, a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY a DESC, id) AS n FROM (SELECT who, id, ARRAY[amount, id] AS a FROM orders)) WHERE n <= 2;
SELECT who, id, a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY a, id) AS n FROM (SELECT who, id, ROW(item, amount) AS a FROM orders)) WHERE n <= 2;
