-- uses: customers
SELECT name, tag FROM customers LEFT JOIN UNNEST(tags) AS t (tag) ON TRUE;
