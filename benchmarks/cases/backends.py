"""(h) The state backends side by side: with little state, with much, and with more than memory."""

from __future__ import annotations

from frame.case import WIESEL, Case, Order, Run, Scale

from cases.keyed_count import count_run, expected

BACKENDS = ("hashmap", "lmdb", "rocksdb")
ON_DISK = BACKENDS[1:]
SIZES = {"small": 10_000, "large": 1_000_000}
MEMORY_MB = 256
"""Of each of the two processes that keep state: half of what the state takes."""


def _counts(size: str, keys: int, records: int) -> list[Run]:
    return [count_run(f"{backend}, {size}", WIESEL, records, keys, conf={"state.backend.type": backend}) for backend in BACKENDS]


def _side_by_side(scale: Scale) -> Case:
    records = scale.records(10_000_000, 3_000_000)
    return Case(
        "backends",
        "running count per key with each state backend, 10,000 and 1,000,000 keys (records/s)",
        tuple(run for size, keys in SIZES.items() for run in _counts(size, keys, records)),
        figures=("rate", "python_anonymous_mb", "python_rss_mb"),
        orders=tuple(Order(f"order, {size}", "rate", tuple(f"{b}, {size}" for b in BACKENDS)) for size in SIZES),
    )


def _beyond_memory(scale: Scale) -> Case:
    keys, memory_mb = scale.records(4_000_000, 1_000_000), scale.records(MEMORY_MB, 128)
    # Two rounds: the state is made in the first one, and replaced in the second, in which nearly all of it is on the disk.
    records = 2 * keys
    arguments = {"records": records, "keys": keys, "memory-mb": memory_mb}
    runs = tuple(
        Run(backend, WIESEL, "programs/big_state.py", arguments, expected(records, keys), conf={"state.backend.type": backend})
        for backend in ON_DISK
    )
    return Case(
        "backends-beyond-memory",
        f"{keys:,} values of 256 bytes, each replaced once, in two processes with {memory_mb} MB each (records/s)",
        runs,
        figures=("rate", "python_anonymous_mb", "python_rss_mb"),
        orders=(Order("order", "rate", ON_DISK),),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases. That the backend in memory fails with more state than memory is a test (feature B3)."""
    return [_side_by_side(scale), _beyond_memory(scale)]
