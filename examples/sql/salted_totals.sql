-- Nearly all orders are for one item: one subtask would have to count them alone. A salt breaks the item into sixteen parts, which
-- are counted side by side; the second step adds up sixteen numbers for each item. Sums and counts are added up before they are sent
-- in any case (table.optimizer.agg-phase-strategy): this is for what cannot be, and for so many items that it does not help.
CREATE TABLE orders (id BIGINT, item STRING, amount INT)
WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');

CREATE VIEW parts AS
SELECT item, MOD(id, 16) AS salt, COUNT(*) AS orders, SUM(amount) AS amount
FROM orders
GROUP BY item, MOD(id, 16);

CREATE VIEW totals AS
SELECT item, SUM(orders) AS orders, SUM(amount) AS amount
FROM parts
GROUP BY item;
