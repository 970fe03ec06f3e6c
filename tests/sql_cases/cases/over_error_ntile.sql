-- uses: orders
SELECT id, NTILE(amount) OVER (ORDER BY id) AS n FROM orders;
