-- uses: orders
-- modes: batch
SELECT id, LEAD(price, 2) OVER (PARTITION BY item ORDER BY ts DESC) AS a FROM orders;
