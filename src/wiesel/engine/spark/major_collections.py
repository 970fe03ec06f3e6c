"""Internal. Scheduling of full garbage collections in workers.

Python does so after so many collections of young objects, whether or not memory grows: with much state that is a pause, again and again,
for nothing. Here memory decides. What is in no cycle is freed at once in any case.
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
    """Have this process, and those that it forks, collect young objects only, and none of those that are there by now.

    A batch makes thousands of objects that are no cycles and live on in the next buffer: Python's default of 700 would look through each
    batch several times.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_AFTER, _MIDDLE_AFTER, _NEVER)


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except FileNotFoundError:  # not on Linux: the most that it has been
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class MajorCollections:
    """Collects all cycles once memory has grown by half, and by no less than 64 MB, since the last time.

    Args:
        resident_bytes: What the process takes of memory.
        collect: Collects.
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
