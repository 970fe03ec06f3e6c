-- uses: orders
SELECT id FROM (WITH w AS (SELECT id FROM orders WHERE item = 'apple') SELECT id FROM w) AS t WHERE id > 1;
