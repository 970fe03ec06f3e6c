-- uses: orders
-- modes: streaming
SELECT who, JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE item) AS j FROM orders GROUP BY who;
SELECT n, JSON_OBJECTAGG(KEY who VALUE n) AS j FROM (SELECT who, COUNT(*) AS n FROM orders WHERE who IS NOT NULL GROUP BY who) GROUP BY n;
