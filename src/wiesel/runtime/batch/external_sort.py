"""Internal. External merge sort over binary entries, with the keys compared as bytes.

Runs are sorted in memory and merged as many at a time as the budget has read buffers for, in several passes if there are more (D. E. Knuth,
The Art of Computer Programming, volume 3, section 5.4.1; G. Graefe, "Implementing Sorting in Database Systems", ACM Computing Surveys
38(3), 2006, also for normalised keys). An entry is one bytes object, ``key | sequence | record | trailer``: keys are prefix-free (see
``sort_keys``), so entries are ordered by key, stable within a key, and no record is decoded for comparisons.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterator
from sys import getsizeof

from wiesel.runtime.batch.spill_files import Spill, SpillFile

__all__ = ["ExternalSorter", "groups", "key_of", "record_of"]

_SEQUENCE = struct.Struct(">Q")
_TRAILER = struct.Struct("<II")
_SLOT_BYTES = 16
"""Per element of a list: the pointer, and its copy for sorting."""

_LARGEST_BLOCK = 64 << 10
_SMALLEST_BLOCK = 512
_BLOCKS_OF_BUDGET = 64


def key_of(entry: bytes) -> bytes:
    """Return the grouping part of an entry's key."""
    return entry[: _TRAILER.unpack_from(entry, len(entry) - 8)[1]]


def record_of(entry: bytes) -> bytes:
    """Return the record of an entry."""
    return entry[_TRAILER.unpack_from(entry, len(entry) - 8)[0] : -8]


def groups(entries: Iterator[bytes]) -> Iterator[tuple[bytes, Iterator[bytes]]]:
    """Yield ``(key, entries of that key)`` from sorted entries. Unread entries of a group are skipped."""
    entry = next(entries, None)
    while entry is not None:
        key = key_of(entry)
        group = _Group(key, entry, entries)
        yield key, group.entries()
        entry = group.after()


class _Group:
    def __init__(self, key: bytes, first: bytes, source: Iterator[bytes]) -> None:
        self._key = key
        self._next: bytes | None = first
        self._source = source
        self._over = False

    def entries(self) -> Iterator[bytes]:
        # Keys are prefix-free: an entry starts with the key if and only if it has that key.
        key = self._key
        while not self._over and (entry := self._next) is not None:
            following = next(self._source, None)
            self._next = following
            self._over = following is None or not following.startswith(key)
            yield entry

    def after(self) -> bytes | None:
        for _ in self.entries():
            pass
        return self._next


class ExternalSorter:
    """Sorts entries within a budget.

    Args:
        memory_bytes: Memory limit of entries and of buffers of runs.
        spill: Storage of runs.

    Attributes:
        runs_written: Sorted runs written so far, intermediate merges included.
        peak_bytes: Peak size of the entries in memory.
    """

    def __init__(self, memory_bytes: int, spill: Spill) -> None:
        self._memory = memory_bytes
        self._spill = spill
        self._entries: list[bytes] = []
        self._used = 0
        self._count = 0
        self._file: SpillFile | None = None
        self._runs: list[tuple[int, int]] = []
        self._block_bytes = min(_LARGEST_BLOCK, max(_SMALLEST_BLOCK, memory_bytes // _BLOCKS_OF_BUDGET))
        self.runs_written = 0
        self.peak_bytes = 0

    def add(self, key: bytes, record: bytes, group_bytes: int | None = None) -> None:
        """Add a record.

        Args:
            key: Its prefix-free key; equal keys keep their order of arrival.
            record: The record, which is opaque.
            group_bytes: Length of the grouping prefix of the key; None for the whole key.
        """
        entry = b"".join(
            (key, _SEQUENCE.pack(self._count), record, _TRAILER.pack(len(key) + 8, len(key) if group_bytes is None else group_bytes))
        )
        self._count += 1
        self._entries.append(entry)
        self._used += getsizeof(entry) + _SLOT_BYTES
        if self._used >= self._memory:
            self._write_run()

    @property
    def used_bytes(self) -> int:
        """Return the size of the entries in memory."""
        return self._used

    @property
    def spilled(self) -> bool:
        """Return whether entries were spilled."""
        return bool(self.runs_written)

    def sorted_entries(self) -> Iterator[bytes]:
        """Yield all entries in order, once, after all have been added."""
        if self._file is None:
            self.peak_bytes = max(self.peak_bytes, self._used)
            entries, self._entries = self._entries, []
            entries.sort(reverse=True)
            while entries:  # from the end, so that memory is freed progressively
                yield entries.pop()
            return
        if self._entries:
            self._write_run()
        yield from self._merged()

    def _write_run(self) -> None:
        self.peak_bytes = max(self.peak_bytes, self._used)
        self._entries.sort()
        self._runs.append(self._write(iter(self._entries), self._runs_file()))
        self._entries.clear()
        self._used = 0

    def _runs_file(self) -> SpillFile:
        if self._file is None:
            self._file = self._spill.open()
        return self._file

    def _write(self, entries: Iterator[bytes], file: SpillFile) -> tuple[int, int]:
        start = len(file)
        block: list[bytes] = []
        size = 0
        for entry in entries:
            block.append(entry)
            size += getsizeof(entry)
            if size >= self._block_bytes:
                file.append(block)
                block = []
                size = 0
        if block:
            file.append(block)
        self.runs_written += 1
        return start, len(file)

    def _merged(self) -> Iterator[bytes]:
        fan_in = max(2, self._memory // (2 * self._block_bytes))
        while len(self._runs) > fan_in:
            old, runs = self._runs_file(), self._runs
            new = self._file = self._spill.open()
            self._runs = [self._write(_merge(old, runs[at : at + fan_in]), new) for at in range(0, len(runs), fan_in)]
            self._spill.release(old)
        file = self._runs_file()
        yield from _merge(file, self._runs)
        self._spill.release(file)
        self._file = None


def _merge(file: SpillFile, runs: list[tuple[int, int]]) -> Iterator[bytes]:
    return heapq.merge(*(_run(file, start, end) for start, end in runs))


def _run(file: SpillFile, start: int, end: int) -> Iterator[bytes]:
    for block in file.blocks(start, end):
        yield from block
