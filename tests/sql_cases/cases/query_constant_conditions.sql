-- uses: orders
SELECT id FROM orders WHERE 1 = 1 AND id < 3;
SELECT id FROM orders WHERE FALSE;
SELECT COUNT(*) FROM orders WHERE TRUE OR amount > 1;
