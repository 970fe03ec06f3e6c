-- uses: customers
SELECT c.home.strete FROM customers AS c;
