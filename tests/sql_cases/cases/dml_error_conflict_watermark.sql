-- uses: numbers, orders
-- modes: streaming
CREATE TABLE by_count (n BIGINT, id INT, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO by_count SELECT COUNT(*), o.id FROM numbers AS m JOIN orders AS o ON m.id = o.id GROUP BY o.id ON CONFLICT DO ERROR;
