-- ${events}: folder of the events, ${side}: folder of the side input.
CREATE TABLE events (
  event_type INT,
  date_time TIMESTAMP(3),
  extra STRING,
  person_id BIGINT,
  name STRING,
  email STRING,
  credit_card STRING,
  city STRING,
  state STRING,
  auction_id BIGINT,
  item_name STRING,
  description STRING,
  initial_bid BIGINT,
  reserve BIGINT,
  expires TIMESTAMP(3),
  seller BIGINT,
  category BIGINT,
  bid_auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  url STRING,
  WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${events}', 'format' = 'csv', 'csv.null-literal' = '');

CREATE TABLE side_input (key BIGINT, `value` STRING)
WITH ('connector' = 'filesystem', 'path' = '${side}', 'format' = 'csv');

CREATE VIEW person AS
SELECT person_id AS id, name, email, credit_card, city, state, date_time, extra FROM events WHERE event_type = 0;

CREATE VIEW auction AS
SELECT auction_id AS id, item_name, description, initial_bid, reserve, date_time, expires, seller, category, extra
FROM events WHERE event_type = 1;

CREATE VIEW bid AS
SELECT bid_auction AS auction, bidder, price, channel, url, date_time, extra FROM events WHERE event_type = 2;

CREATE VIEW bid_now AS
SELECT *, PROCTIME() AS now FROM bid;
