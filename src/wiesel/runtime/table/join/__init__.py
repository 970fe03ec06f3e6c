"""Internal. Joins of tables: regular, interval, temporal and lookup joins."""
