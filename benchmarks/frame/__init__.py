"""The benchmarks' frame: starts runs, accounts for them, checks what they put out, reports."""
