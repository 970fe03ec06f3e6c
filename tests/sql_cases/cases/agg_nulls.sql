-- uses: numbers
SELECT COUNT(*), COUNT(i), SUM(i), AVG(i), MIN(s), MAX(s), COUNT(DISTINCT b), SUM(CASE WHEN i IS NULL THEN 1 ELSE 0 END) FROM numbers;
SELECT b, COUNT(*), MAX(d) FROM numbers GROUP BY b;
