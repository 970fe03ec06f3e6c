-- uses: orders
-- modes: streaming
CREATE VIEW told AS SELECT * FROM TO_CHANGELOG(input => (SELECT item, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY item));
SELECT * FROM FROM_CHANGELOG(input => TABLE told);
