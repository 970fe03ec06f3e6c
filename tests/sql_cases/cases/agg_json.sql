-- uses: orders
-- modes: batch
SELECT JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE amount) AS j FROM orders WHERE id < 8;
SELECT JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE amount ABSENT ON NULL) AS j FROM orders WHERE id < 8;
SELECT JSON_ARRAYAGG(price) AS j FROM orders WHERE id IN (3, 9);
SELECT who, JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE item) AS j FROM orders WHERE id IN (1, 2, 4, 8, 9, 12) GROUP BY who;
SELECT who, JSON_ARRAYAGG(amount) AS j FROM orders WHERE id IN (1, 2, 4, 6, 8, 9, 12) GROUP BY who;
SELECT who, JSON_ARRAYAGG(amount NULL ON NULL) AS j FROM orders WHERE id IN (1, 2, 4, 6, 8, 9, 12) AND who <> 'ann' OR id = 6 GROUP BY who;
SELECT JSON_ARRAYAGG(item) AS j FROM orders WHERE id > 100;
SELECT JSON_OBJECTAGG(KEY item VALUE id) AS j FROM orders WHERE id > 100;
