"""Internal. Rows of tables as Arrow columns: batches of changes, typed expressions over them, functions, aggregates."""
