"""Settings of the engines that several cases share, with their reasons."""

from __future__ import annotations

# PyFlink's documentation names the size of a bundle as the means to more throughput; the default of 1,000 records a bundle costs it up
# to an order of magnitude here. The bundle time stays at its default of 1 s: it is the least latency a job then has.
_LARGE_BUNDLES = {"python.fn-execution.bundle.size": 100_000, "pipeline.object-reuse": "true"}

# Bundles of 20 s: the most throughput, where neither latency nor the length of a checkpoint matters (both wait for a bundle's end).
_HUGE_BUNDLES = {"python.fn-execution.bundle.size": 1_000_000, "python.fn-execution.bundle.time": 20_000, "pipeline.object-reuse": "true"}


def pyflink_tuned(keys: int = 0) -> dict[str, object]:
    """Return PyFlink's settings for throughput at a latency of about a second; the state of all keys fits into the worker's cache."""
    return {**_LARGE_BUNDLES, **_cache(keys)}


def pyflink_huge_bundles(keys: int = 0) -> dict[str, object]:
    """Return PyFlink's settings for throughput at any latency."""
    return {**_HUGE_BUNDLES, **_cache(keys)}


def _cache(keys: int) -> dict[str, object]:
    return {"python.state.cache-size": 2 * keys} if keys > 500 else {}
