-- uses: orders
SELECT id WHERE id > 1;
