"""Internal. From the calls of programs to plans: expressions and operations on tables as the trees that queries are bound from."""
