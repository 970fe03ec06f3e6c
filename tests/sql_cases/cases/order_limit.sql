-- ordered: batch
-- uses: orders
SELECT id, amount FROM orders WHERE amount IS NOT NULL ORDER BY amount DESC, id LIMIT 3;
