-- uses: orders
WITH a AS (SELECT who, amount FROM orders WHERE amount > 1), b (person, total) AS (SELECT who, SUM(amount) FROM a GROUP BY who)
SELECT b.person, b.total, a.amount FROM b JOIN a ON a.who = b.person WHERE b.total > 5;
