"""Internal. Sorted input of keyed operators in BATCH mode, so that each key is complete before the next one begins.

As in Flink the records of a key are sorted by timestamp, and the watermark does not advance among them: the only watermark, at the end of
the input, follows all of them. After the last record of a key its timers fire, and its state is dropped.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.batch.external_sort import ExternalSorter, groups, record_of
from wiesel.runtime.batch.object_sizes import mean_size
from wiesel.runtime.batch.sort_keys import group_key
from wiesel.runtime.batch.spill_files import Spill
from wiesel.runtime.descriptor import TaskDescriptor
from wiesel.types.serializers import dumps
from wiesel.wire.batch import Batch

_KEYED_KINDS = ("keyed_", "window")
_ORDER = struct.Struct(">QB")
_ENTRY_BYTES = 160
"""Overhead in bytes per record: the tuple, its timestamp, its slot in the list."""

_KEY_BYTES = 400
_BATCH_SIZE = 1_000


def sorts_input(descriptor: TaskDescriptor) -> bool:
    """Return whether the task's head is a keyed operator of a BATCH job."""
    head = descriptor.vertex.operators[0]
    keyed = head.kind.startswith(_KEYED_KINDS) or bool(head.params.get("keyed"))
    return descriptor.config.get("execution.runtime-mode") == "BATCH" and keyed


class SortedInput:
    """Collects the input and emits it grouped by key: in order of first occurrence, or of the keys' bytes once it has spilled.

    Records without keys (the broadcast side of a keyed operator) precede all keys, in order of arrival.

    Args:
        memory_bytes: Memory limit of the records; beyond it they are spilled to the runs of an external sort.
        local_dir: Directory of the runs.
    """

    def __init__(self, memory_bytes: int, local_dir: str | None = None) -> None:
        self._memory = memory_bytes
        self._spill = Spill(local_dir)
        self._sorter: ExternalSorter | None = None
        self._used = 0.0
        self._unkeyed: list[tuple[Batch, int]] = []
        self._by_key: dict[Any, list[tuple[int, int, Any, Any]]] = {}

    @property
    def spilled_bytes(self) -> int:
        """Return the number of bytes written to files."""
        return self._spill.bytes_written

    def add(self, batch: Batch, input_index: int) -> None:
        """Add records of one input."""
        if batch.keys is None:
            self._unkeyed.append((batch, input_index))
            return
        times = batch.timestamps if batch.timestamps is not None else [None] * len(batch.values)
        if self._sorter is not None:
            for value, time, key in zip(batch.values, times, batch.keys, strict=True):
                self._sort(self._sorter, key, MIN_TIMESTAMP if time is None else time, input_index, value, time)
            return
        by_key = self._by_key
        keys_before = len(by_key)
        for value, time, key in zip(batch.values, times, batch.keys, strict=True):
            entry = (MIN_TIMESTAMP if time is None else time, input_index, value, time)
            by_key.setdefault(key, []).append(entry)
        self._used += len(batch.values) * (mean_size(batch.values) + _ENTRY_BYTES) + (len(by_key) - keys_before) * _KEY_BYTES
        if self._used > self._memory:
            self._sort_outside()

    def _sort_outside(self) -> None:
        """Move the records in memory to an external sort; they are freed as they are added to it."""
        sorter = self._sorter = ExternalSorter(self._memory, self._spill)
        by_key = self._by_key
        while by_key:
            key, entries = by_key.popitem()
            for entry in entries:
                self._sort(sorter, key, *entry)

    @staticmethod
    def _sort(sorter: ExternalSorter, key: Any, order: int, input_index: int, value: Any, time: int | None) -> None:
        group = group_key(key)
        sorter.add(group + _ORDER.pack(order - MIN_TIMESTAMP, input_index), dumps((key, input_index, value, time)), len(group))

    def take(self, end_key: Callable[[], None] = lambda: None) -> Iterator[tuple[Batch, int]]:
        """Yield batches of one key and one input each, sorted by timestamp (records of the same time in order of arrival).

        Args:
            end_key: Called when all records of a key were processed.
        """
        unkeyed, self._unkeyed = self._unkeyed, []
        yield from unkeyed
        self._used = 0
        if self._sorter is not None:
            sorter, self._sorter = self._sorter, None
            yield from self._from_files(sorter, end_key)
            return
        by_key, self._by_key = self._by_key, {}
        while by_key:
            key = next(iter(by_key))
            entries = by_key.pop(key)
            entries.sort(key=lambda e: e[:2])
            start = 0
            for at in range(1, len(entries) + 1):
                if at == len(entries) or entries[at][1] != entries[start][1]:
                    part = entries[start:at]
                    yield _batch(key, [e[2] for e in part], [e[3] for e in part]), part[0][1]
                    start = at
            end_key()

    def _from_files(self, sorter: ExternalSorter, end_key: Callable[[], None]) -> Iterator[tuple[Batch, int]]:
        for _, entries in groups(sorter.sorted_entries()):
            records = map(pickle.loads, map(record_of, entries))
            for input_index, part in groupby(records, itemgetter(1)):
                values: list[Any] = []
                times: list[int | None] = []
                for key, _, value, time in part:
                    values.append(value)
                    times.append(time)
                    if len(values) == _BATCH_SIZE:
                        yield _batch(key, values, times), input_index
                        values, times = [], []
                if values:
                    yield _batch(key, values, times), input_index
            end_key()

    def close(self) -> None:
        """Release the files."""
        self._spill.close()


def _batch(key: Any, values: list[Any], times: list[Any]) -> Batch:
    return Batch(values, None if all(t is None for t in times) else times, [key] * len(values))
