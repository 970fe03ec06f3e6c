"""Internal. The language: from text to statements, of which nothing is looked up yet."""
