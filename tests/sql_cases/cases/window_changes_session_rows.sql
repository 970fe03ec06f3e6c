-- uses: prices
-- modes: streaming
SELECT item, price, window_start, window_end FROM TABLE(SESSION(TABLE prices PARTITION BY item, DESCRIPTOR(ts), INTERVAL '20' SECOND))
WHERE item IN ('pear', 'fig');
