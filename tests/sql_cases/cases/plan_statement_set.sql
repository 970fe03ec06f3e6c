-- uses: orders
CREATE TABLE a (id INT) WITH ('connector' = 'filesystem', 'path' = '${out}/a', 'format' = 'csv');
CREATE TABLE b (item STRING) WITH ('connector' = 'filesystem', 'path' = '${out}/b', 'format' = 'csv');
COMPILE PLAN '${out}/p.json' FOR STATEMENT SET BEGIN INSERT INTO a SELECT id FROM orders WHERE id < 4; INSERT INTO b SELECT item FROM orders WHERE id > 10; END;
EXECUTE PLAN '${out}/p.json';
SELECT * FROM a;
SELECT * FROM b;
