"""Internal. Operators of bounded data: they collect their input within the memory of the task and emit results at its end, in parts."""
