"""Internal. Checkpoints: contents, acknowledgement, storage and retention."""
