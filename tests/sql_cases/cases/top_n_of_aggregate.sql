-- uses: orders
SELECT who, total FROM (SELECT who, total, ROW_NUMBER() OVER (ORDER BY total DESC, who) AS n FROM (SELECT who, SUM(amount) AS total FROM orders GROUP BY who) AS s) AS t WHERE n <= 2;
