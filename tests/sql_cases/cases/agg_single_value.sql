-- uses: orders
SELECT SINGLE_VALUE(who), SINGLE_VALUE(price), SINGLE_VALUE(amount + 1) FROM orders WHERE id = 1;
SELECT id, SINGLE_VALUE(item) AS item, COUNT(*) AS n FROM orders GROUP BY id;
SELECT SINGLE_VALUE(most) FROM (SELECT MAX(amount) AS most FROM orders) AS t;
