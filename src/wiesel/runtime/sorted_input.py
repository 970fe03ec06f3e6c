"""Internal. BATCH mode: the input of a keyed operator is sorted, so that each key is complete before the next one begins.

As in Flink the records of a key come in the order of their timestamps, and time has not advanced while they do: the one watermark,
at the end of the input, comes behind all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.descriptor import TaskDescriptor
from wiesel.wire.batch import Batch

_KEYED_KINDS = ("keyed_", "window")


def sorts_input(descriptor: TaskDescriptor) -> bool:
    """Return whether the task's head is a keyed operator of a BATCH job."""
    head = descriptor.vertex.operators[0]
    keyed = head.kind.startswith(_KEYED_KINDS) or bool(head.params.get("keyed"))
    return descriptor.config.get("execution.runtime-mode") == "BATCH" and keyed


class SortedInput:
    """Gathers the input and hands it out key by key; keys in the order in which they first came.

    Records without keys (the broadcast side of a keyed operator) come before all keys, in their order of arrival.
    """

    def __init__(self) -> None:
        self._unkeyed: list[tuple[Batch, int]] = []
        self._by_key: dict[Any, list[tuple[int, int, Any, Any]]] = {}

    def add(self, batch: Batch, input_index: int) -> None:
        """Take records of one input."""
        if batch.keys is None:
            self._unkeyed.append((batch, input_index))
            return
        by_key = self._by_key
        times = batch.timestamps if batch.timestamps is not None else [None] * len(batch.values)
        for value, time, key in zip(batch.values, times, batch.keys, strict=True):
            entry = (MIN_TIMESTAMP if time is None else time, input_index, value, time)
            by_key.setdefault(key, []).append(entry)

    def take(self) -> Iterator[tuple[Batch, int]]:
        """Yield batches of one key and one input each, sorted by timestamp (records of the same time in order of arrival)."""
        unkeyed, self._unkeyed = self._unkeyed, []
        yield from unkeyed
        by_key, self._by_key = self._by_key, {}
        for key, entries in by_key.items():
            entries.sort(key=lambda e: e[:2])
            start = 0
            for at in range(1, len(entries) + 1):
                if at == len(entries) or entries[at][1] != entries[start][1]:
                    part = entries[start:at]
                    times = [e[3] for e in part]
                    stamped = None if all(t is None for t in times) else times
                    yield Batch([e[2] for e in part], stamped, [key] * len(part)), part[0][1]
                    start = at
