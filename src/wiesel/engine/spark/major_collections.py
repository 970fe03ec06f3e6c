"""Internal. Scheduling of full garbage collections in workers.

Python runs them after a number of young collections, whether or not memory grows: with much state these are repeated useless pauses. Here
memory growth decides. Objects outside of cycles are freed immediately in any case.
"""

from __future__ import annotations

import gc
import resource
from collections.abc import Callable

__all__ = ["MajorCollections", "leave_major_collections_to_memory"]

_YOUNG_AFTER = 10_000
_MIDDLE_AFTER = 10
_NEVER = 1 << 30
_GROWTH = 1.5
_LEAST_GROWTH_BYTES = 64 << 20


def leave_major_collections_to_memory() -> None:
    """Let this process and its children collect young objects only, excluding existing ones.

    A batch creates thousands of acyclic objects that live on in the next buffer: Python's default threshold of 700 would scan each batch
    several times.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_AFTER, _MIDDLE_AFTER, _NEVER)


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except FileNotFoundError:  # not on Linux: the peak size
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class MajorCollections:
    """Runs a full collection once memory has grown by half, and by at least 64 MB, since the last one.

    Args:
        resident_bytes: Returns the memory of the process.
        collect: Runs a collection.
    """

    def __init__(self, resident_bytes: Callable[[], int] = _resident_bytes, collect: Callable[[], object] = gc.collect) -> None:
        self._resident_bytes = resident_bytes
        self._collect = collect
        self._set_limit()

    def _set_limit(self) -> None:
        now = self._resident_bytes()
        self._limit = max(now * _GROWTH, now + _LEAST_GROWTH_BYTES)

    def look(self) -> None:
        """Collect if it is time."""
        if self._resident_bytes() > self._limit:
            self._collect()
            self._set_limit()
