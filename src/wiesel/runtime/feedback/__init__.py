"""Internal. The feedback edge of iterations: how records come from the tail of a loop back to its head."""
