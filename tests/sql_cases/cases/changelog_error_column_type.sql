-- uses: row_changes
-- modes: streaming
SELECT * FROM FROM_CHANGELOG(input => TABLE row_changes, op => DESCRIPTOR(id));
