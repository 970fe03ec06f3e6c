-- uses: numbers
SELECT id, NULLIF(i, 10), IFNULL(s, 'nothing'), COALESCE(i, id * 100, 0), IF(b, 'yes', 'no') FROM numbers;
