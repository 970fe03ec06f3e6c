-- uses: customers
SELECT name, home.street IS NULL, home IS NULL, tags IS NULL, tags[2], CARDINALITY(tags), ARRAY_CONTAINS(tags, 'b'), COALESCE(home.`no`, -1) FROM customers;
