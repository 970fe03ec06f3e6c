-- uses: customers
SELECT tag, COUNT(*) AS n FROM customers CROSS JOIN UNNEST(tags) AS t (tag) WHERE tag <> 'c' GROUP BY tag;
