"""Internal. Process table functions."""
