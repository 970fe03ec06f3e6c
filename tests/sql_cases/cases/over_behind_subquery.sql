-- uses: arrivals, ticks, products
-- modes: streaming
SELECT id, COUNT(*) OVER (PARTITION BY who ORDER BY ts) AS n FROM arrivals WHERE id IN (SELECT id FROM ticks);
SELECT id, COUNT(*) OVER (PARTITION BY who ORDER BY ts) AS n FROM arrivals WHERE id IN (SELECT id FROM products);
SELECT id, COUNT(*) OVER (PARTITION BY who ORDER BY ts) AS n FROM arrivals AS a WHERE NOT EXISTS (SELECT * FROM ticks AS t WHERE t.id = a.id);
