-- uses: nested
CREATE TABLE by_row (r ROW<a INT, b STRING> NOT NULL, n BIGINT, PRIMARY KEY (r) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE by_array (xs ARRAY<INT> NOT NULL, n BIGINT, PRIMARY KEY (xs) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO by_row SELECT r, COUNT(*) FROM nested WHERE r IS NOT NULL GROUP BY r;
INSERT INTO by_array SELECT xs, COUNT(*) FROM nested WHERE xs IS NOT NULL GROUP BY xs;
