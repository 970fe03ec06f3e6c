"""Internal. The first rows of each partition in an order: Top-N, deduplication, sorts by time."""
