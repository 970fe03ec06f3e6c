"""Internal. From plans to the operators that run them: one module per kind of relation, found by ``translator``."""
