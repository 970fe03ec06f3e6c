"""Internal. Operators of queries: over batches of changes as columns (:class:`~wiesel.columnar.row_batch.RowBatch`)."""
