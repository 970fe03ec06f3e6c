"""Internal. Operators, by topic; ``wiesel.runtime.registry`` refers to their factories."""
