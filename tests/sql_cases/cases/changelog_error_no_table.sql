-- uses: orders
-- modes: streaming
SELECT * FROM TO_CHANGELOG();
