-- uses: orders
SELECT DISTINCT who, item FROM orders;
