"""Internal. Algorithms of batch jobs: they keep to a memory budget and go on in files when it is used up. No engine, no operators."""
