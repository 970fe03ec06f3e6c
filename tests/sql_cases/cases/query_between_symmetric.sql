-- uses: orders
SELECT id FROM orders WHERE amount BETWEEN 2 AND 4;
SELECT id FROM orders WHERE amount BETWEEN SYMMETRIC 4 AND 2;
SELECT id FROM orders WHERE amount NOT BETWEEN 2 AND 4;
