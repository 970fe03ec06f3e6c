-- uses: orders
SELECT SUBSTRING(id FROM 'a') FROM orders;
