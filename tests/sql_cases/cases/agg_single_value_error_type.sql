-- uses: orders
SELECT SINGLE_VALUE(ARRAY[id]) FROM orders WHERE id = 1;
