-- uses: orders
SELECT id, item, amount * 2 AS twice FROM orders WHERE amount > 2 AND item <> 'plum';
