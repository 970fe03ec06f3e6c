-- uses: orders
SELECT x.who, x.n FROM (SELECT who, COUNT(*) AS n FROM (SELECT * FROM orders WHERE amount > 1) AS big GROUP BY who) AS x WHERE x.n > 1;
