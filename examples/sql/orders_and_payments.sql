-- One stream of events holds orders and payments. Filters make two tables of it, which are joined: each order with its payment, whichever
-- of them comes first, and as unpaid as long as there is none. If an event is taken back, so is what was joined with it.
CREATE TABLE events (kind STRING, order_id INT, customer STRING, amount DECIMAL(8, 2))
WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json');

CREATE VIEW orders AS SELECT order_id, customer, amount FROM events WHERE kind = 'order';

CREATE VIEW payments AS SELECT order_id, amount AS paid FROM events WHERE kind = 'payment';

CREATE VIEW open_and_paid AS
SELECT o.order_id, o.customer, o.amount, p.paid
FROM orders AS o
LEFT JOIN payments AS p ON o.order_id = p.order_id;
