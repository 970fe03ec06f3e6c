-- uses: numbers
SELECT id FROM numbers WHERE NOT (i > 0 AND b);
SELECT id FROM numbers WHERE i <> 10 OR s = 'one';
