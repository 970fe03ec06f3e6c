"""Internal. The interactive client of SQL: what ``wiesel sql`` starts in a terminal."""
