-- uses: customers
SELECT name, tag FROM customers CROSS JOIN UNNEST(tags) AS t (tag);
