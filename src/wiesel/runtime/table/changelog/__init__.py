"""Internal. Changes of rows: as rows of their own, on their way to sinks, and by the key of a table."""
