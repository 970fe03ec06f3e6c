"""Internal. Windows of tables: assignment, aggregates, joins and Top-N per window."""
