-- uses: numbers
SELECT id, i + 1, i / 3, d * d, d / 3, ABS(d), ROUND(f, 1), MOD(i, 7), -d FROM numbers WHERE id <> 5 AND id <> 6;
