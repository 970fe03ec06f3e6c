-- uses: orders
SELECT id, RANK() OVER (PARTITION BY who) AS s FROM orders;
