-- uses: orders
SELECT id, amount IN (3, CAST(NULL AS INT)), amount NOT IN (3, CAST(NULL AS INT)), amount IN (1, 2) FROM orders;
