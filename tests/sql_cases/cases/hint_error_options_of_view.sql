-- uses: numbers
CREATE VIEW v AS SELECT * FROM numbers;
SELECT * FROM v /*+ OPTIONS('path' = 'x') */;
