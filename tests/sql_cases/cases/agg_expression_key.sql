-- uses: orders
SELECT amount > 3 AS much, CHAR_LENGTH(item), COUNT(*) + 1 FROM orders GROUP BY amount > 3, CHAR_LENGTH(item);
