-- uses: orders
SELECT id, CASE WHEN amount > 4 THEN 'many' WHEN amount > 1 THEN 'some' ELSE 'few' END AS how, COALESCE(who, 'nobody') FROM orders;
