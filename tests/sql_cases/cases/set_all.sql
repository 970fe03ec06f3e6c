-- uses: orders
SELECT who FROM orders INTERSECT ALL SELECT who FROM orders WHERE id > 3;
SELECT who FROM orders EXCEPT ALL SELECT who FROM orders WHERE id > 5;
SELECT who, item FROM orders WHERE id < 9 EXCEPT ALL SELECT who, item FROM orders WHERE id IN (1, 8);
SELECT who, COUNT(*) AS n FROM orders GROUP BY who INTERSECT ALL SELECT who, COUNT(*) AS n FROM orders WHERE id <> 10 GROUP BY who;
SELECT n FROM (SELECT who, COUNT(*) AS n FROM orders GROUP BY who) EXCEPT ALL SELECT 1;
