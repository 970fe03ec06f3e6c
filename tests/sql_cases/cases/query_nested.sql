-- uses: customers
SELECT name, tags[1], CARDINALITY(tags), home.street, home.`no` + 1, c.home.`no` IS NULL FROM customers AS c;
