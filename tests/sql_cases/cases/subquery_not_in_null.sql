-- uses: numbers
SELECT id FROM numbers WHERE id NOT IN (SELECT i FROM numbers);
SELECT id FROM numbers WHERE id NOT IN (SELECT i FROM numbers WHERE i IS NOT NULL);
SELECT id FROM numbers WHERE i NOT IN (SELECT id FROM numbers WHERE FALSE);
