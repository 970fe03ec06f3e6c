-- uses: orders
SELECT who, COUNT(*) FILTER (WHERE id IN (SELECT amount FROM orders)) AS n FROM orders GROUP BY who HAVING MAX(id) IN (SELECT id FROM orders) OR who = 'ann';
