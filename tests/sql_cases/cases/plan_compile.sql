-- uses: orders
CREATE TABLE out_t (item STRING, n BIGINT, total DECIMAL(18, 2)) WITH ('connector' = 'filesystem', 'path' = '${out}/t', 'format' = 'json');
COMPILE PLAN '${out}/plans/p.json' FOR INSERT INTO out_t SELECT item, COUNT(*), SUM(price) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY item, window_start, window_end;
COMPILE PLAN '${out}/plans/p.json' IF NOT EXISTS FOR INSERT INTO out_t SELECT 'x', 1, 1.5;
EXECUTE PLAN '${out}/plans/p.json';
SELECT * FROM out_t;
DROP TABLE orders;
EXECUTE PLAN '${out}/plans/p.json';
SELECT * FROM out_t;
