"""Internal. Top-N, deduplication, and sorts by time."""
