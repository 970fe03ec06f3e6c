"""Internal. The interactive SQL client, which ``wiesel sql`` starts in a terminal."""
