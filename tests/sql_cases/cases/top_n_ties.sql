-- uses: orders
SELECT item, id, n FROM (SELECT item, id, ROW_NUMBER() OVER (PARTITION BY item ORDER BY amount DESC, id) AS n FROM orders) AS t WHERE n <= 2;
