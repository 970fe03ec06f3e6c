"""Internal. Managed memory: the budget of the batch algorithms of a task."""

from __future__ import annotations

from wiesel.core import options
from wiesel.core.config import Configuration

__all__ = ["managed_memory_bytes"]

_FLINK_MEMORY_BYTES = 1280 << 20
"""Flink memory with Flink's default of 1728 MB for the whole process."""


def managed_memory_bytes(config: Configuration) -> int:
    """Return the memory budget of one task's batch algorithms."""
    size = config.get(options.MANAGED_MEMORY_SIZE)
    slots = config.get(options.TASK_SLOTS)
    if size is not None:
        return int(size) // slots
    whole = int(config.get(options.FLINK_MEMORY_SIZE) or _FLINK_MEMORY_BYTES) * config.get(options.MANAGED_MEMORY_FRACTION)
    return int(whole / slots)
