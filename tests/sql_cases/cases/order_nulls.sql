-- uses: numbers
-- modes: batch
-- ordered: batch
SELECT id, i FROM numbers ORDER BY i, id;
SELECT id, i FROM numbers ORDER BY i DESC, id;
SELECT id, i FROM numbers ORDER BY i NULLS LAST, id DESC;
SELECT id, i FROM numbers ORDER BY i DESC NULLS FIRST, id;
