"""Internal. A growing, page-aligned buffer that is reused instead of reallocated."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["PagedBuffer"]

_FIRST_BYTES = 1 << 20
"""Enough for most sections. Unwritten pages cost no memory, but count against limits of address space."""


class PagedBuffer:
    """Implements the part of a file's interface that a pickler needs, and seeking to fill in gaps."""

    def __init__(self) -> None:
        self._map = _memory(_FIRST_BYTES)
        self._at = 0

    def write(self, data: bytes | memoryview) -> int:
        """Write at the position and advance it."""
        end = self._at + len(data)
        if end > len(self._map):
            self._grow(end)
        self._map[self._at : end] = data
        self._at = end
        return len(data)

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def seek(self, position: int) -> None:
        """Set the position; the contents of skipped bytes are undefined."""
        if position > len(self._map):
            self._grow(position)
        self._at = position

    @contextmanager
    def view(self, start: int, stop: int) -> Iterator[memoryview]:
        """Yield a view of the bytes; the buffer must not be written within the context, nor the view used after it."""
        with memoryview(self._map) as whole, whole[start:stop] as part:
            yield part

    def _grow(self, needed: int) -> None:
        larger = _memory(max(needed, 2 * len(self._map)))
        with self.view(0, self._at) as used:
            larger[: self._at] = used
        self._map = larger


def _memory(size: int) -> mmap.mmap:
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
