"""Internal. Formats of tables: files read and written as batches of columns."""
