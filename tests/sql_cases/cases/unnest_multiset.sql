-- uses: customers
SELECT letter FROM (SELECT COLLECT(SUBSTRING(city, 1, 1)) AS firsts FROM customers) CROSS JOIN UNNEST(firsts) AS t (letter);
