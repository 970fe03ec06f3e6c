"""Internal. The feedback edge of iterations, from the tail of a loop to its head."""
