"""Internal. Ids, clocks, configuration and errors: the base of all other layers."""
