"""Internal. Plans of queries: their relations, and what follows from these: changelog modes, keys, state, documents."""
