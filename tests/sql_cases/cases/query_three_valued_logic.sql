-- uses: numbers
SELECT id, b AND i > 0, b OR i > 0, NOT b, (b AND i > 0) IS UNKNOWN, (b OR i > 0) IS NOT TRUE, b IS NOT FALSE, i = CAST(NULL AS INT) FROM numbers;
