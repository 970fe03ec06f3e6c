"""(h) The state backends side by side: little state, much state, and more than the workers may take of memory."""

from __future__ import annotations

from frame.case import WIESEL, Case, Order, Run, Scale

from cases.keyed_count import count_run, expected

BACKENDS = ("hashmap", "lmdb", "rocksdb")
ON_DISK = ("lmdb", "rocksdb")
BIG_STATE = "programs/big_state.py"
LIMIT_MB = 400


def _counts(size: str, keys: int, records: int) -> list[Run]:
    return [count_run(f"{backend}, {size}", WIESEL, records, keys, conf={"state.backend.type": backend}) for backend in BACKENDS]


def _beyond_memory(keys: int) -> list[Run]:
    """With the backend in memory such a job ends with a MemoryError, so it is no contender."""
    records = 3 * keys
    arguments = {"records": records, "keys": keys, "limit-mb": LIMIT_MB}
    return [
        Run(f"{backend}, beyond memory", WIESEL, BIG_STATE, arguments, expected(records, keys), {"state.backend.type": backend})
        for backend in ON_DISK
    ]


def cases(scale: Scale) -> list[Case]:
    """Return the case."""
    keys = scale.records(4_000_000, 2_500_000)
    runs = [
        *_counts("small", 10_000, scale.records(10_000_000, 3_000_000)),
        *_counts("large", 1_000_000, scale.records(10_000_000, 3_000_000)),
        *_beyond_memory(keys),
    ]
    sizes = {"small": BACKENDS, "large": BACKENDS, "beyond memory": ON_DISK}
    return [
        Case(
            "backends",
            f"counts of 10,000 and of 1,000,000 keys; {keys:,} values of 256 bytes in workers that may take {LIMIT_MB} MB (records/s)",
            tuple(runs),
            figures=("rate", "python_anonymous_mb", "python_rss_mb"),
            orders=tuple(Order(f"order, {size}", "rate", tuple(f"{b}, {size}" for b in backends)) for size, backends in sizes.items()),
        )
    ]
