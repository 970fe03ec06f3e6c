"""Internal. The engine in one process: the same plans with a virtual clock and a seeded scheduler, for tests and simulation."""
