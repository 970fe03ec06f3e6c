"""Internal. Ids, clocks, configuration and errors: what every other layer stands on."""
