-- uses: customers
SELECT name, tag, n FROM customers CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, n);
