"""Internal. A list of batches that spills to a file: for data that has to wait, or to be read several times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wiesel.runtime.batch.spill_files import Spill, SpillFile

__all__ = ["SpillableList"]


class SpillableList:
    """Picklable objects in the order of insertion.

    Args:
        memory_bytes: Memory limit of the objects, by the sizes given to ``append``.
        spill: Storage beyond the limit.
    """

    def __init__(self, memory_bytes: int, spill: Spill) -> None:
        self._memory = memory_bytes
        self._spill = spill
        self._items: list[Any] = []
        self._used = 0
        self._file: SpillFile | None = None

    def append(self, item: Any, size_bytes: int) -> None:
        """Add an object; its size is an estimate of its memory."""
        self._items.append(item)
        self._used += size_bytes
        if self._used > self._memory:
            if self._file is None:
                self._file = self._spill.open()
            for held in self._items:
                self._file.append(held)
            self._items.clear()
            self._used = 0

    @property
    def spilled(self) -> bool:
        """Return whether some objects are in a file."""
        return self._file is not None

    def __iter__(self) -> Iterator[Any]:
        if self._file is not None:
            yield from self._file.blocks()
        yield from self._items

    def clear(self) -> None:
        """Remove all objects, releasing memory and file."""
        self._items.clear()
        self._used = 0
        if self._file is not None:
            self._spill.release(self._file)
            self._file = None
