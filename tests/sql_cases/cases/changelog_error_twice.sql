-- uses: orders
-- modes: streaming
SELECT * FROM TO_CHANGELOG(input => TABLE orders, op_mapping => MAP['INSERT,INSERT', 'put']);
