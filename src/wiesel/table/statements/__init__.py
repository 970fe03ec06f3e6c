"""Internal. Runs statements in a table environment."""
