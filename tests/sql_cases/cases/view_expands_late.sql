-- uses: orders
CREATE VIEW v AS SELECT id FROM orders WHERE id < 3;
DROP TABLE orders;
SELECT * FROM v;
