-- uses: orders
SELECT id, PRINT('item ', item), PRINT('price ', price) FROM orders WHERE id < 3;
