"""Internal. Columnar aggregates by key and slice.

Partial aggregates of batches are only appended; parts are merged periodically, and when a window reads them. Changes are written to keyed
state when a checkpoint is taken, not before: so no row and no key is processed in Python in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from wiesel.columnar.aggregates.slots import Column, Slot, merged
from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_values
from wiesel.runtime.table.aggregate.aggregation import python_values, slot_column

__all__ = ["Part", "SliceStore"]

Part = list[Column]
"""Columns of keys, then of values of DISTINCT, then of slots; a row per key and value."""

_PARTS = 32
"""Maximal number of unmerged parts of a slice."""


class SliceStore:
    """The parts of all slices, by the end of the slice.

    Args:
        keys: Number of key columns.
        values: Number of columns with values of DISTINCT after them.
        types: The types of both.
        slots: The slots behind them.
    """

    def __init__(self, keys: int, values: int, types: Sequence[pa.DataType], slots: Sequence[Slot]) -> None:
        self._keys = keys
        self._grouped = keys + values
        self._types = list(types)
        self._slots = list(slots)
        self._parts: dict[int, list[Part]] = {}
        self._changed: dict[int, list[Part]] = {}
        self._stored: set[int] = set()

    def ends(self) -> Iterable[int]:
        """Return the ends of the existing slices."""
        return self._parts.keys()

    def add(self, end: int, part: Part) -> None:
        """Add the aggregates of a batch for a slice."""
        for parts in (self._parts.setdefault(end, []), self._changed.setdefault(end, [])):
            parts.append(part)
            if len(parts) > _PARTS:
                parts[:] = [self.united(parts)]

    def united(self, parts: Sequence[Part]) -> Part:
        """Merge several parts (at least one) to a part with a row per key and value."""
        if len(parts) == 1:
            return parts[0]
        columns = [pa.concat_arrays(list(each)) for each in zip(*parts, strict=True)]
        groups = group_by(columns[: self._grouped], len(columns[-1]))
        if groups.count == len(groups):
            return columns
        first = pa.array(groups.first)
        reduced = [slot.reduce(column, groups) for slot, column in zip(self._slots, columns[self._grouped :], strict=True)]
        return [*(column.take(first) for column in columns[: self._grouped]), *reduced]

    def of(self, ends: Iterable[int]) -> Part | None:
        """Return the merged contents of several slices; None if they are empty."""
        found = []
        for end in ends:
            parts = self._parts.get(end)
            if parts is not None:
                parts[:] = [self.united(parts)]
                found.append(parts[0])
        return self.united(found) if found else None

    # State

    def drop(self, end: int, table: Any) -> None:
        """Forget a slice."""
        parts = self._parts.pop(end, None)
        self._changed.pop(end, None)
        if parts is None or end not in self._stored:
            return
        self._stored.discard(end)
        for key in set(self._key_tuples(self.united(parts), 0, self._keys)):
            table.remove(key, end)

    def flush(self, table: Any) -> None:
        """Write changes to keyed state."""
        for end, parts in self._changed.items():
            part = self.united(parts)
            keys = self._key_tuples(part, 0, self._keys)
            if self._grouped == self._keys:
                self._put_all(end, keys, part, table)
            else:
                self._put_entries(end, keys, part, table)
            self._stored.add(end)
        self._changed = {}

    def key_tuples(self, part: Part) -> list[tuple[Any, ...]]:
        """Return the keys of a part, as they are in keyed state."""
        return self._key_tuples(part, 0, self._keys)

    def _key_tuples(self, part: Part, start: int, stop: int) -> list[tuple[Any, ...]]:
        return list(zip(*(key_values(column) for column in part[start:stop]), strict=True)) if stop > start else [()] * len(part[-1])

    def _put_all(self, end: int, keys: Sequence[Any], part: Part, table: Any) -> None:
        known = self._merged([table.get(key, end) for key in keys], part)
        for key, state in zip(keys, known, strict=True):
            table.put(key, state, end)

    def _put_entries(self, end: int, keys: Sequence[Any], part: Part, table: Any) -> None:
        values = self._key_tuples(part, self._keys, self._grouped)
        known = self._merged([table.get_entry(key, value, end) for key, value in zip(keys, values, strict=True)], part)
        for key, value, state in zip(keys, values, known, strict=True):
            table.put_entry(key, value, state, end)

    def _merged(self, stored: list[Any], part: Part) -> list[tuple[Any, ...]]:
        """Return the slots of a part merged with the stored ones."""
        empty = tuple(slot.empty for slot in self._slots)
        old = zip(*(empty if state is None else state for state in stored), strict=True)
        news = part[self._grouped :]
        both = [merged(slot, slot_column(slot, list(values)), new) for slot, values, new in zip(self._slots, old, news, strict=True)]
        return list(zip(*map(python_values, both), strict=True))

    def restore(self, table: Any) -> None:
        """Restore the contents from keyed state."""
        found: dict[int, list[tuple[Any, Any]]] = {}
        for key, end, stored in table.items():
            entries = [(key, stored)] if self._grouped == self._keys else [((*key, *value), state) for value, state in stored.items()]
            found.setdefault(end, []).extend(entries)
        for end, entries in found.items():
            keys = zip(*(key for key, _ in entries), strict=True)
            slots = zip(*(state for _, state in entries), strict=True)
            columns = [pa.array(list(values), kind) for values, kind in zip(keys, self._types, strict=False)]
            columns += [slot_column(slot, list(values)) for slot, values in zip(self._slots, slots, strict=True)]
            self._parts[end] = [columns]
            self._stored.add(end)
