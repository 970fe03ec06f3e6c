"""Internal. INSERT: the columns, keys and types of the table that is written to."""
