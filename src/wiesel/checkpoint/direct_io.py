"""Internal. Direct I/O: writing without the page cache, where the system and the filesystem support it."""

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
    """Decides whether large files are written with direct I/O.

    Args:
        mode: ``true``: direct I/O; ``false``: through the page cache; ``auto``: direct I/O as long as copying into the page cache would
            take more than a twentieth of a core, estimated from the measured cost in this task.
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
        """Return whether a file of this size, which is about to be written, bypasses the page cache."""
        if self._mode != "auto" or size < _LARGE_BYTES:
            return self._mode == "true"
        now_s = self._now()
        # The sum of the bytes written, decayed over time, divided by the decay time is the rate.
        self._written = self._written * math.exp((self._last_s - now_s) / _WINDOW_S) + size
        self._last_s = now_s
        if self._cost is None or self._written / _WINDOW_S * self._cost <= _MOST_OF_A_CORE:
            self._past = 0
            return False
        # The cost of a copy depends on the free memory, so one is measured periodically.
        self._past = (self._past + 1) % _PROBE_EVERY
        return self._past != 0

    def copied(self, size: int, cpu_s: float) -> None:
        """Record the cost of writing a file through the page cache: seconds of the thread's CPU."""
        if size >= _LARGE_BYTES:
            cost = cpu_s / size
            self._cost = cost if self._cost is None else (self._cost + cost) / 2


def write_past_cache(file: BinaryIO, parts: Sequence[bytes | memoryview]) -> Sequence[bytes | memoryview]:
    """Write as much as possible with direct I/O, and return the rest.

    That is whole blocks of one large page-aligned part. The file still has to be synchronised: its size and the contents of the disk's
    cache are not durable yet.

    Args:
        file: An empty file.
        parts: The contents.

    Raises:
        OSError: If the disk is full or broken.
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
        # The filesystem does not support it, requires larger blocks, or the memory is not aligned.
        if error.errno != errno.EINVAL:
            raise
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
    return [view[done:]]
