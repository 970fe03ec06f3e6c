-- uses: row_changes
-- modes: streaming
SELECT * FROM FROM_CHANGELOG(input => TABLE row_changes, op => DESCRIPTOR(code), op_mapping => MAP['c', 'INSERT', 'r', 'INSERT']);
