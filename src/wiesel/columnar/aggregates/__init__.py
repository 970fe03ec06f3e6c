"""Internal. Aggregate functions over columns: each is a few slots per group, which rows and other slots are reduced into."""
