"""Internal. Checkpoints: what is in one, who acknowledges it, where it is kept, and when it may be deleted."""
