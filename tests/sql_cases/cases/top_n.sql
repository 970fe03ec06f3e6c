-- uses: orders
SELECT item, id, rn FROM (
  SELECT item, id, amount, ROW_NUMBER() OVER (PARTITION BY item ORDER BY amount DESC, id) AS rn FROM orders WHERE amount IS NOT NULL)
WHERE rn <= 2;
