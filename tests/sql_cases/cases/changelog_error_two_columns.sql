-- uses: orders
-- modes: streaming
SELECT * FROM TO_CHANGELOG(input => TABLE orders, op => DESCRIPTOR(a, b));
