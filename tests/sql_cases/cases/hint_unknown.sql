-- uses: orders
SELECT /*+ QUICKLY('orders') */ id FROM orders;
