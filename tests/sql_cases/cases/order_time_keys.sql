-- uses: beats
-- modes: streaming
-- ordered: streaming
SELECT id, ts FROM beats ORDER BY ts, id DESC;
SELECT id, price FROM beats WHERE sym = 'x' ORDER BY ts, price DESC, id;
