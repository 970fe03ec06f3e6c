-- uses: prices
-- modes: streaming
SELECT item, price, window_start FROM TABLE(TUMBLE(TABLE prices, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE item IN ('pear', 'fig');
