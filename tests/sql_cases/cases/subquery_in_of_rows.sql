-- uses: orders
SELECT id FROM orders WHERE (who, item) IN (SELECT who, item FROM orders WHERE amount > 3);
