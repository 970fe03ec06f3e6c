"""Internal. Memory to put bytes together in: it grows, begins where a page does, and is used again without being asked for again."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["PagedBuffer"]

_FIRST_BYTES = 1 << 20
"""Enough for most sections. What is not written to costs no memory, but counts against limits of address space."""


class PagedBuffer:
    """Has those parts of a file's interface that a pickler and who fills in gaps need."""

    def __init__(self) -> None:
        self._map = _memory(_FIRST_BYTES)
        self._at = 0

    def write(self, data: bytes | memoryview) -> int:
        """Write at the position and move it on."""
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
        """Set the position; what is skipped has any contents."""
        if position > len(self._map):
            self._grow(position)
        self._at = position

    @contextmanager
    def view(self, start: int, stop: int) -> Iterator[memoryview]:
        """Give bytes as they are; nothing may be written, and nothing kept of them, beyond the context."""
        with memoryview(self._map) as whole, whole[start:stop] as part:
            yield part

    def _grow(self, needed: int) -> None:
        larger = _memory(max(needed, 2 * len(self._map)))
        with self.view(0, self._at) as used:
            larger[: self._at] = used
        self._map = larger


def _memory(size: int) -> mmap.mmap:
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
