-- uses: customers
SELECT c.name, t.tag, t.n FROM customers AS c LEFT JOIN UNNEST(c.tags) WITH ORDINALITY AS t (tag, n) ON TRUE;
