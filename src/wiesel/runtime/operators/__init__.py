"""Internal. The operators, by topic; ``wiesel.runtime.registry`` names their factories."""
