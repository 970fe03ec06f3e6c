"""Internal. Statements that define, change and describe tables."""
