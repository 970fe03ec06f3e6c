-- uses: orders
CREATE VIEW cheap AS SELECT id, item, price FROM orders WHERE price < 1.5;
CREATE VIEW cheaper (n, thing) AS SELECT id, item FROM cheap WHERE price < 0.45;
SELECT * FROM cheap;
SELECT thing, n FROM cheaper;
