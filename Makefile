# Thin names for scripts/dev, which does the work and runs without make as well.
.PHONY: help setup demo demo-kill test test-quick check bench soak mutants bench-nexmark wheel docs

help:
	@bash scripts/dev help

setup demo demo-kill test test-quick check bench soak mutants bench-nexmark wheel docs:
	@bash scripts/dev $@
