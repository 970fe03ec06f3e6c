"""Internal. Default parallelism of operators."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from wiesel.core import options
from wiesel.core.config import Configuration

__all__ = [
    "LOCAL_MASTER",
    "available_cores",
    "default_parallelism",
    "default_parallelism_note",
    "local_default_parallelism",
    "local_slots",
    "set_local_default_parallelism",
]

LOCAL_MASTER = re.compile(r"local(?:\[\s*(\d+|\*)\s*(?:,\s*\d+\s*)?])?")
"""Spark masters with tasks in the driver process; the group is the number of slots."""

_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_LEAST_SLOTS = 64
_VERTICES = 16
_local_default: int | None = None


def available_cores() -> int:
    """Return the number of available cores by affinity and CPU quota of the container, like Java's ``availableProcessors``."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _CGROUP_QUOTA.read_text(encoding="ascii").split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no control groups, or no quota: "max"
        return cores


def local_default_parallelism() -> int:
    """Return the default parallelism of local jobs: the number of cores, or the set value."""
    return available_cores() if _local_default is None else _local_default


def set_local_default_parallelism(parallelism: int | None) -> None:
    """Set the default parallelism of local jobs for the whole process; None for the number of cores."""
    global _local_default
    _local_default = parallelism


def local_slots() -> int:
    """Return the minimal number of slots of a local master if the configuration does not set it."""
    return max(_LEAST_SLOTS, _VERTICES * max(available_cores(), local_default_parallelism()))


def default_parallelism(config: Configuration) -> int:
    """Return ``parallelism.default``; if it is not set, the number of cores on a local master, else 1.

    All tasks of a job hold a slot at the same time: a local master with few slots gets the parallelism at which a job of 16 vertices fits.
    The local engine, which simulates a job in one thread, has the same results on every machine: 1.
    """
    if config.contains(options.PARALLELISM_DEFAULT) or config.get(options.ENGINE) != "spark":
        return config.get(options.PARALLELISM_DEFAULT)
    local = LOCAL_MASTER.fullmatch(config.get("spark.master") or config.get(options.SPARK_MASTER) or f"local[{local_slots()}]")
    if local is None:
        return config.get(options.PARALLELISM_DEFAULT)
    slots = available_cores() if local[1] == "*" else int(local[1] or 1)
    return min(local_default_parallelism(), max(1, slots // _VERTICES))


def default_parallelism_note(config: Configuration) -> str:
    """Return the origin of the default parallelism of a local job, or an empty string if it is set."""
    if config.contains(options.PARALLELISM_DEFAULT) or (parallelism := default_parallelism(config)) == 1:
        return ""
    return f"parallelism {parallelism}, for the cores of this machine; -p or {options.PARALLELISM_DEFAULT.key} sets another"
