-- uses: orders
SELECT CAST(id AS ARRAY<INT>) FROM orders;
