-- uses: orders
-- modes: batch
SELECT * FROM TO_CHANGELOG(input => TABLE orders);
