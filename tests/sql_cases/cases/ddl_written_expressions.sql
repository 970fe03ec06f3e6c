-- modes: streaming
CREATE TABLE t (a INT, B INT, r ROW<`x y` INT, z INT>, xs ARRAY<INT>, m MAP<STRING, INT>, ts TIMESTAMP(3),
 c1 AS a+1, c2 AS a  *   -1, c3 AS -a, c4 AS (a+B)*2, c5 AS upper( 'x' )||'y', c6 AS r.`x y`+r.z, c7 AS xs[1]-m['k'],
 c8 AS case when a>1 and not B<2 then -1 else a % 2 end, c9 AS a in (1,2), c10 AS proctime( ), c11 AS a - - B,
 WATERMARK FOR ts AS ts-interval '5' second) WITH ('connector' = 'datagen');
DESCRIBE t;
SHOW CREATE TABLE t;
CREATE VIEW v AS SELECT a, c10, ts AS w FROM t;
DESCRIBE v;
SHOW COLUMNS FROM v LIKE 'w';
