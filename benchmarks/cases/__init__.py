"""The benchmarks, one module per subject: each has ``cases(scale) -> list[Case]``."""

from __future__ import annotations

from frame.case import Case, Scale

from cases import (
    backends,
    barriers,
    batch,
    buffers,
    checkpoints,
    features,
    footprint,
    keyed_count,
    latency,
    map_filter,
    memory,
    nexmark,
    one_job,
    recovery,
    scaling,
    sql,
    windows,
)

MODULES = (
    keyed_count,
    map_filter,
    windows,
    latency,
    buffers,
    checkpoints,
    barriers,
    recovery,
    scaling,
    sql,
    backends,
    one_job,
    footprint,
    features,
    batch,
    nexmark,
    memory,
)


def all_cases(scale: Scale) -> list[Case]:
    """Return every case, in the order they run."""
    return [case for module in MODULES for case in module.cases(scale)]
