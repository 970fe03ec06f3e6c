-- uses: row_changes
-- modes: streaming
SELECT * FROM FROM_CHANGELOG(input => (SELECT code, COUNT(*) AS n FROM row_changes GROUP BY code), op => DESCRIPTOR(code));
