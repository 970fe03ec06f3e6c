-- uses: orders
-- modes: batch
SELECT id, RANK() OVER (PARTITION BY who ORDER BY amount), SUM(amount) OVER (PARTITION BY item ORDER BY id), COUNT(*) OVER w, MAX(amount) OVER w FROM orders WINDOW w AS (PARTITION BY who ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
SELECT id FROM orders ORDER BY RANK() OVER (ORDER BY amount), id;
