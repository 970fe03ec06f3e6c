-- uses: nested
-- modes: streaming
SELECT m['k'], m['l'] FROM (SELECT DISTINCT m FROM nested);
SELECT DISTINCT s FROM (SELECT COLLECT(r.b) AS s FROM nested GROUP BY id / 3);
