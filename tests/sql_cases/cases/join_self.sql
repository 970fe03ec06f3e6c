-- uses: orders
SELECT a.id, b.id FROM orders AS a JOIN orders AS b ON a.who = b.who AND a.id < b.id;
