-- uses: orders
-- modes: streaming
CREATE TABLE by_item (item STRING, id INT, n BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO by_item SELECT MAX(item), MAX(id), COUNT(*) FROM orders WHERE item IS NOT NULL GROUP BY id ON CONFLICT DO NOTHING;
