-- uses: orders, customers
SELECT c.city, t.total FROM (SELECT who, SUM(amount) AS total FROM orders GROUP BY who) AS t JOIN customers AS c ON c.name = t.who;
