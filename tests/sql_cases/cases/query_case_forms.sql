-- uses: orders
SELECT id, CASE item WHEN 'apple' THEN 1 WHEN 'pear' THEN 2 END, CASE WHEN amount > 3 THEN 'many' WHEN amount IS NULL THEN 'none' ELSE 'few' END,
  CASE WHEN FALSE THEN price ELSE amount END FROM orders;
