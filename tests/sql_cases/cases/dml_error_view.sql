-- uses: orders
CREATE VIEW v AS SELECT id FROM orders;
INSERT INTO v VALUES (1);
