-- uses: numbers
SELECT * FROM numbers;
