-- uses: customers
SELECT * FROM customers;
