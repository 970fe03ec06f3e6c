"""Internal. Aggregate functions over columns: each has a few slots per group, into which rows and other slots are reduced."""
