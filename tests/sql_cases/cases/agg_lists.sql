-- uses: orders
-- modes: batch
SELECT LISTAGG(DISTINCT who) AS w FROM orders WHERE who = 'ann' OR who = 'bob' AND id = 2;
SELECT LISTAGG(who, '-') AS w, FIRST_VALUE(item) AS f, LAST_VALUE(item) AS l, ARRAY_AGG(amount) AS a FROM orders;
SELECT who, ARRAY_AGG(amount) FILTER (WHERE amount > 2) AS a, LISTAGG(item, '|') FILTER (WHERE amount > 2) AS i FROM orders GROUP BY who;
SELECT who, ARRAY_AGG(DISTINCT amount) AS a FROM orders WHERE who = 'cid' OR who = 'eve' OR who = 'dora' GROUP BY who;
