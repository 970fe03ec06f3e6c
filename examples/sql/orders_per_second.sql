-- Orders per shop and second, in event time, as a stream: the connector 'datagen' makes twenty orders per second, for five seconds.
CREATE TABLE orders (
  shop INT,
  price INT,
  at TIMESTAMP_LTZ(3),
  WATERMARK FOR at AS at - INTERVAL '1' SECOND
)
WITH (
  'connector' = 'datagen',
  'number-of-rows' = '100',
  'rows-per-second' = '20',
  'fields.shop.min' = '1',
  'fields.shop.max' = '3',
  'fields.price.min' = '5',
  'fields.price.max' = '50'
);

SELECT shop, window_start, COUNT(*) AS orders, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' SECOND))
GROUP BY shop, window_start, window_end;
