-- uses: orders
SELECT id, LAG(amount) OVER (PARTITION BY who ORDER BY ts) AS a FROM orders;
SELECT id, LAG(amount, 2) OVER (ORDER BY ts) AS a, amount - LAG(amount) OVER (ORDER BY ts) AS d FROM orders;
SELECT id, FIRST_VALUE(amount) OVER w AS f, LAST_VALUE(item) OVER w AS l FROM orders WINDOW w AS (PARTITION BY who ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW);
