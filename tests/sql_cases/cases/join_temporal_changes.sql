-- uses: orders, prices
-- modes: streaming
SELECT o.id, o.item, p.price FROM orders AS o LEFT JOIN prices FOR SYSTEM_TIME AS OF o.ts AS p ON o.item = p.item;
SELECT o.id, p.price, p.ts FROM orders AS o JOIN prices FOR SYSTEM_TIME AS OF o.ts AS p ON o.item = p.item;
