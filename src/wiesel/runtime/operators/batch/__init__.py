"""Internal. Operators of bounded data: they gather their input within the memory of the task and emit at its end, part by part."""
