"""(f) One core and two; ten thousand keys and ten million."""

from __future__ import annotations

from frame.case import WIESEL, Case, Scale, Target

from cases.keyed_count import count_run


def _cores(scale: Scale) -> Case:
    keys, records = 10_000, scale.records(10_000_000, 3_000_000)
    return Case(
        "scaling-cores",
        "running count per key, 10,000 keys, parallelism 1 and 2 (records/s)",
        (
            count_run("parallelism 1", WIESEL, records, keys, arguments={"parallelism": 1}),
            count_run("parallelism 2", WIESEL, records, keys, arguments={"parallelism": 2}),
        ),
        (Target("x the rate of parallelism 1", "rate", "parallelism 2", "parallelism 1"),),
        figures=("rate",),
    )


def _keys(scale: Scale) -> Case:
    sizes = {"10k": 10_000, "1m": 1_000_000} if scale.quick else {"10k": 10_000, "1m": 1_000_000, "10m": 10_000_000}
    largest = list(sizes)[-1]
    runs = []
    for backend in ("hashmap", "lmdb"):
        for name, keys in sizes.items():
            records = scale.records(max(10_000_000, 2 * keys), max(2_000_000, 2 * keys))
            runs.append(count_run(f"{backend}, {name}", WIESEL, records, keys, conf={"state.backend.type": backend}))
    return Case(
        "scaling-keys",
        "running count per key, from 10,000 keys on, by state backend (records/s; peak memory of all Python processes in MB)",
        tuple(runs),
        (
            # The object caches in front of LMDB are full with a million keys already.
            Target(f"memory at {largest} keys / at 10k, lmdb", "python_anonymous_mb", f"lmdb, {largest}", "lmdb, 10k", at_most=2),
            Target(f"memory at {largest} keys / at 10k, hashmap", "python_anonymous_mb", f"hashmap, {largest}", "hashmap, 10k"),
            Target(f"rate at {largest} keys / at 10k, lmdb", "rate", f"lmdb, {largest}", "lmdb, 10k"),
            Target(f"rate at {largest} keys / at 10k, hashmap", "rate", f"hashmap, {largest}", "hashmap, 10k"),
        ),
        figures=("rate", "python_anonymous_mb", "python_rss_mb"),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_cores(scale), _keys(scale)]
