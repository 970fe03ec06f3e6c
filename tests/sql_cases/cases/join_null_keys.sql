-- uses: numbers
SELECT a.id, b.id FROM numbers AS a JOIN numbers AS b ON a.i = b.i;
SELECT a.id, b.id FROM numbers AS a JOIN numbers AS b ON a.i IS NOT DISTINCT FROM b.i;
