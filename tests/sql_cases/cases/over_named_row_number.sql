-- uses: ticks
SELECT id, sym FROM (SELECT *, ROW_NUMBER() OVER w AS n FROM ticks WINDOW w AS (PARTITION BY sym ORDER BY price DESC, id)) WHERE n <= 2;
