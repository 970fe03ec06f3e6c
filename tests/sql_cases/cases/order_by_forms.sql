-- uses: orders
-- modes: batch
-- ordered: batch
SELECT id, amount * 2 AS twice FROM orders ORDER BY twice DESC, id LIMIT 3;
SELECT who, COUNT(*) AS n FROM orders GROUP BY who ORDER BY COUNT(*) DESC, who;
SELECT id FROM orders ORDER BY price * amount DESC, id FETCH FIRST 1 ROW ONLY;
SELECT id FROM orders ORDER BY RANK() OVER (ORDER BY amount), id;
