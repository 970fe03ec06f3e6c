"""Internal. Hive's rules for types and functions."""
