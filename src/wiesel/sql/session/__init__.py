"""Internal. Statements as jobs: streams and rows of programs as tables, plans as streams, results as text."""
