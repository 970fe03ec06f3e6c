"""Internal. Writing past the page cache, where the system and the filesystem have a way to do that."""

from __future__ import annotations

import errno
import fcntl
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import BinaryIO

__all__ = ["WritingWay", "write_past_cache"]

_LARGE_BYTES = 1 << 20
_BLOCK_BYTES = 4096
_WINDOW_S = 10.0
_MOST_OF_A_CORE = 0.05
_PROBE_EVERY = 16


class WritingWay:
    """Decides how large files are written.

    Args:
        mode: ``true``: past the page cache; ``false``: through it; ``auto``: past it as long as the copies into it would take more
            than a twentieth of a core, by what those of this task have cost so far.
        now: Returns seconds.
    """

    def __init__(self, mode: str, now: Callable[[], float] = time.monotonic) -> None:
        self._mode = mode
        self._now = now
        self._written = 0.0
        self._last_s = now()
        self._cost: float | None = None
        self._past = 0

    def passes_cache(self, size: int) -> bool:
        """Return whether a file of so many bytes, which is about to be written, goes past the page cache."""
        if self._mode != "auto" or size < _LARGE_BYTES:
            return self._mode == "true"
        now_s = self._now()
        # The sum of what was written, less what is forgotten with time, divided by that time is the rate.
        self._written = self._written * math.exp((self._last_s - now_s) / _WINDOW_S) + size
        self._last_s = now_s
        if self._cost is None or self._written / _WINDOW_S * self._cost <= _MOST_OF_A_CORE:
            self._past = 0
            return False
        # What the copies cost changes with what memory is free, so one is made now and then.
        self._past = (self._past + 1) % _PROBE_EVERY
        return self._past != 0

    def copied(self, size: int, cpu_s: float) -> None:
        """Tell what it cost to write a file through the page cache: seconds of the thread's CPU."""
        if size >= _LARGE_BYTES:
            cost = cpu_s / size
            self._cost = cost if self._cost is None else (self._cost + cost) / 2


def write_past_cache(file: BinaryIO, parts: Sequence[bytes | memoryview]) -> Sequence[bytes | memoryview]:
    """Write as much as can be written past the page cache, and return the rest.

    That is whole blocks of one large part that begins where a page of memory does. It is still to be synchronised: the file's size, and
    what the disk keeps in a cache of its own, are not on the disk yet.

    Args:
        file: A file that nothing was written to yet.
        parts: What is to be written.

    Raises:
        OSError: the disk is full or broken.
    """
    flag = getattr(os, "O_DIRECT", 0)
    if not flag or len(parts) != 1 or len(parts[0]) < _LARGE_BYTES:
        return parts
    view, done = memoryview(parts[0]), 0
    whole = len(view) // _BLOCK_BYTES * _BLOCK_BYTES
    descriptor = file.fileno()
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | flag)
        while done < whole:
            done += os.write(descriptor, view[done:whole])
    except OSError as error:
        # The filesystem cannot do it, wants larger blocks, or the memory does not begin where it has to.
        if error.errno != errno.EINVAL:
            raise
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
    return [view[done:]]
