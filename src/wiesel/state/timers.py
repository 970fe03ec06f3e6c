"""Internal. Timer queues: in memory with all backends, written to the changelog like other state."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any

from wiesel.state.backend import VOID, TimerQueue
from wiesel.state.changelog import CHUNK_ENTRIES, TIMERS, Section
from wiesel.state.snapshots import Part

__all__ = ["HeapTimerQueue"]

_FEW_EMPTY = 1024


class HeapTimerQueue(TimerQueue):
    """Timers by timestamp, in the order of registration within one; a heap of the distinct timestamps finds the earliest.

    A timestamp whose timers were all deleted is removed when it reaches the top of the heap, or when such timestamps are the majority.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._at: dict[int, dict[tuple[Any, Any], None]] = {}
        self._heap: list[int] = []
        self._count = 0
        self._empty = 0
        # Relative to the last snapshot: (key, namespace) by timestamp -> added (True) or removed (False).
        self._changes: dict[int, dict[tuple[Any, Any], bool]] = {}
        self._scan: list[int] | None = None

    def register(self, timestamp: int, key: Any, namespace: Any = VOID) -> None:
        """See ``TimerQueue``."""
        timer = (key, namespace)
        timers = self._at.get(timestamp)
        if timers is None:
            self._at[timestamp] = {timer: None}
            heapq.heappush(self._heap, timestamp)
        elif timer in timers:
            return
        else:
            if not timers:
                self._empty -= 1
            timers[timer] = None
        self._count += 1
        self._changed(timestamp, timer, True)

    def delete(self, timestamp: int, key: Any, namespace: Any = VOID) -> None:
        """See ``TimerQueue``."""
        timer = (key, namespace)
        timers = self._at.get(timestamp)
        if timers is None or timer not in timers:
            return
        del timers[timer]
        self._count -= 1
        self._changed(timestamp, timer, False)
        if not timers:
            self._empty += 1
            if self._empty > _FEW_EMPTY and self._empty * 2 > len(self._at):
                self._drop_empty()

    def _drop_empty(self) -> None:
        # In place: an iteration in pop_until continues with the same objects.
        for timestamp in [t for t, timers in self._at.items() if not timers]:
            del self._at[timestamp]
        self._heap[:] = self._at
        heapq.heapify(self._heap)
        self._empty = 0

    def _changed(self, timestamp: int, timer: tuple[Any, Any], added: bool) -> None:
        changes = self._changes.get(timestamp)
        if changes is None:
            self._changes[timestamp] = {timer: added}
        elif changes.get(timer, added) is added:
            changes[timer] = added
        else:  # as in the last snapshot
            del changes[timer]
            if not changes:
                del self._changes[timestamp]

    def next_timestamp(self) -> int | None:
        """See ``TimerQueue``."""
        heap, at = self._heap, self._at
        while heap:
            first = heap[0]
            if at[first]:
                return first
            heapq.heappop(heap)
            del at[first]
            self._empty -= 1
        return None

    def pop_until(self, timestamp: int) -> Iterator[tuple[int, Any, Any]]:
        """See ``TimerQueue``."""
        while True:
            first = self.next_timestamp()
            if first is None or first > timestamp:
                return
            timers = self._at[first]
            timer = next(iter(timers))
            del timers[timer]
            if not timers:
                self._empty += 1
            self._count -= 1
            self._changed(first, timer, False)
            yield (first, *timer)

    @contextmanager
    def quiesced(self, ignored: Callable[[int], None]) -> Iterator[None]:
        """See ``TimerQueue``."""

        def register(timestamp: int, key: Any, namespace: Any = VOID) -> None:
            ignored(timestamp)

        # Replaces the method, so that it costs nothing otherwise.
        self.__dict__["register"] = register
        try:
            yield
        finally:
            del self.__dict__["register"]

    def clear(self) -> None:
        """Remove all timers without recording changes."""
        self._at.clear()
        self._heap.clear()
        self._changes.clear()
        self._count = self._empty = 0

    def __len__(self) -> int:
        return self._count

    def items(self) -> Iterator[tuple[int, Any, Any]]:
        """See ``TimerQueue``."""
        for timestamp, timers in self._at.items():
            for key, namespace in timers:
                yield timestamp, key, namespace

    # Snapshots

    @property
    def changed_entries(self) -> int:
        """Number of timestamps with changes since the last snapshot."""
        return len(self._changes)

    def freeze(self) -> Part:
        """Return the changes since the last snapshot and start a new set of changes."""
        changes, self._changes = self._changes, {}
        return lambda: self._encode((timestamp, timers, timers.values()) for timestamp, timers in changes.items())

    def begin_scan(self) -> None:
        """Begin to rewrite all timers, by ``scan_slice``."""
        self._scan = list(self._at)

    def scan_slice(self, limit: int) -> tuple[int, Part]:
        """Return the number of timers and the sections of the next slice, of about ``limit`` timers."""
        chosen: list[tuple[int, list[tuple[Any, Any]]]] = []
        count = 0
        while self._scan and count < limit:
            timestamp = self._scan.pop()
            timers = self._at.get(timestamp)
            if timers:
                chosen.append((timestamp, list(timers)))
                count += len(timers)
        if not self._scan:
            self._scan = None
        return count, lambda: self._encode((timestamp, timers, repeat(True)) for timestamp, timers in chosen)

    @property
    def scanning(self) -> bool:
        """True if slices are left."""
        return self._scan is not None

    def all_parts(self) -> Part:
        """Return all timers, independent of the tracked changes."""
        chosen = [(timestamp, list(timers)) for timestamp, timers in self._at.items() if timers]
        return lambda: self._encode((timestamp, timers, repeat(True)) for timestamp, timers in chosen)

    def _encode(self, changes: Iterable[tuple[int, Iterable[tuple[Any, Any]], Iterable[bool]]]) -> Iterator[Section]:
        columns: tuple[list[Any], ...] = ([], [], [], [])
        timestamps, keys, namespaces, added = columns
        for timestamp, timers, kinds in changes:
            for (key, namespace), kind in zip(timers, kinds, strict=False):
                timestamps.append(timestamp)
                keys.append(key)
                namespaces.append(namespace)
                added.append(kind)
            if len(keys) >= CHUNK_ENTRIES:
                yield Section(TIMERS, self.name, len(keys), columns)
                for column in columns:
                    column.clear()
        if keys:
            yield Section(TIMERS, self.name, len(keys), columns)

    def apply(self, section: Section, keep: Callable[[Any], bool] | None) -> None:
        """Apply a section of a state file; ``keep`` selects the keys of this subtask."""
        for timestamp, key, namespace, added in zip(*section.columns, strict=True):
            if keep is None or keep(key):
                (self.register if added else self.delete)(timestamp, key, namespace)

    def restored(self) -> None:
        """Discard the changes recorded by the restore."""
        self._changes = {}
