"""Internal. Algorithms of batch jobs with a memory budget, which spill to files. No engine, no operators."""
