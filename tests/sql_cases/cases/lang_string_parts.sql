-- uses: orders
SELECT 'a'
  'b' -- and the last one
  'c', id FROM orders WHERE who = 'a'
'nn';
SELECT GROUPING(item) FROM orders GROUP BY item;
