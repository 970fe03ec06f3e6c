"""(h) The state backends side by side, with little state and with much."""

from __future__ import annotations

from frame.case import WIESEL, Case, Order, Run, Scale

from cases.keyed_count import count_run

BACKENDS = ("hashmap", "lmdb", "rocksdb")
SIZES = {"small": 10_000, "large": 1_000_000}


def _counts(size: str, keys: int, records: int) -> list[Run]:
    return [count_run(f"{backend}, {size}", WIESEL, records, keys, conf={"state.backend.type": backend}) for backend in BACKENDS]


def cases(scale: Scale) -> list[Case]:
    """Return the case."""
    records = scale.records(10_000_000, 3_000_000)
    return [
        Case(
            "backends",
            "running count per key with each state backend, 10,000 and 1,000,000 keys (records/s)",
            tuple(run for size, keys in SIZES.items() for run in _counts(size, keys, records)),
            figures=("rate", "python_anonymous_mb", "python_rss_mb"),
            orders=tuple(Order(f"order, {size}", "rate", tuple(f"{b}, {size}" for b in BACKENDS)) for size in SIZES),
        )
    ]
