-- uses: orders
SELECT id, SOURCE_WATERMARK() AS w FROM orders;
