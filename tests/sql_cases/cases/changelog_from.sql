-- uses: row_changes
-- modes: streaming
SELECT * FROM FROM_CHANGELOG(input => TABLE row_changes, op => DESCRIPTOR(code), op_mapping => MAP['c, r', 'INSERT', 'ub', 'UPDATE_BEFORE', 'ua', 'UPDATE_AFTER', 'd', 'DELETE']);
SELECT name, COUNT(*) AS n FROM FROM_CHANGELOG(input => TABLE row_changes, op => DESCRIPTOR(code), op_mapping => MAP['c, r', 'INSERT', 'ub', 'UPDATE_BEFORE', 'ua', 'UPDATE_AFTER', 'd', 'DELETE']) GROUP BY name;
