-- uses: customers
SELECT c.name, c.home.street FROM customers AS c WHERE c.home.`no` > 2;
SELECT c.home.`no` + 1 AS n, COUNT(*) AS many FROM customers AS c GROUP BY c.home.`no`;
