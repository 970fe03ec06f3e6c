"""Internal. Rows of tables as columns of Arrow: batches of changes, typed expressions over them, functions, aggregates."""
