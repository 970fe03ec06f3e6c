"""Internal. Value multisets of groups, with counts: for DISTINCT, and for retractable MIN and MAX."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import Input
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.keys import key_values
from wiesel.columnar.stored import stored_column
from wiesel.runtime.table.aggregate.group_keys import GroupKeys
from wiesel.runtime.table.aggregate.seen_pairs import SeenPairs
from wiesel.state.backend import MapTable

__all__ = ["ArrayValues", "KeptValues", "SeenValues", "StateValues", "distinct_values"]


def distinct_values(rows: Input) -> tuple[Input, Any]:
    """Return one row per group and distinct values, with its count; negative if it was retracted more often than added."""
    length = len(rows.groups)
    values = group_by(rows.columns, length)
    pairs = group_by([pa.array(rows.groups.ids * max(values.count, 1) + values.ids)], length)
    counts = pairs.sizes() if rows.signs is None else pairs.sizes(rows.signs)
    return Input(rows.columns, rows.groups).take(pairs.first), counts


class KeptValues:
    """Counts of values in keyed state."""

    def __init__(self, table: MapTable) -> None:
        self._table = table

    def update(self, keys: Sequence[Any], rows: Input) -> Input:
        """Count rows; return those with new values, and with sign -1 those with removed values."""
        unique, counts = distinct_values(rows)
        values = list(zip(*(key_values(column) for column in unique.columns), strict=True))
        get, put, remove = self._table.get_entry, self._table.put_entry, self._table.remove_entry
        places: list[int] = []
        signs: list[int] = []
        for place, (group, value, added) in enumerate(zip(unique.groups.ids.tolist(), values, counts.tolist(), strict=True)):
            if not added:
                continue
            key = keys[group]
            before = get(key, value) or 0
            after = before + added
            if after:
                put(key, value, after)
            else:
                remove(key, value)
            if (before > 0) != (after > 0):
                places.append(place)
                signs.append(1 if after > 0 else -1)
        changed = unique.take(np.array(places, np.int64))
        return Input(changed.columns, changed.groups, None if min(signs, default=1) > 0 else np.array(signs, np.int64))

    def extremes(self, keys: Sequence[Any], slot: Slot, old: Column, changed: Input) -> Column:
        """Return the least or greatest values after changes to single values, which :meth:`update` returned."""
        column, groups = changed.columns[0], changed.groups
        if changed.signs is None:
            return _merged(slot, old, slot.reduce(column, groups))
        gone = np.flatnonzero(changed.signs < 0)
        added = np.flatnonzero(changed.signs > 0)
        current = stored_column(old)
        lost = zip(groups.ids[gone].tolist(), stored_column(column.take(pa.array(gone))), strict=True)
        searched = {group for group, value in lost if value == current[group] or value is current[group]}  # NaN is normalised
        come = slot.reduce(column.take(pa.array(added)), groups.take(added))
        found = _merged(slot, old, come)
        if not searched:
            return found
        pick = min if slot.how == "min" else max
        values = found.to_pylist()
        for group in searched:
            there = (value[0] for value, count in self._table.entries(keys[group]) if count > 0 and value[0] is not None)
            values[group] = pick(there, key=_order, default=None)
        return pa.array(values, slot.type)

    def clear(self, key: Any) -> None:
        """Forget a group."""
        self._table.remove(key)


def _order(value: Any) -> tuple[bool, Any]:
    """NaN is larger than any number."""
    return value != value, value  # noqa: PLR0124


class SeenValues(ABC):
    """Values seen by a group, for insert-only input: a bit for each of several filters with DISTINCT."""

    @abstractmethod
    def mark(self, keys: GroupKeys, values: Input, bits: Places) -> Places:
        """Add bits of distinct values; return those that were not set."""

    def clear(self, key: Any) -> None:
        """Forget a group."""


class StateValues(SeenValues):
    """Values in keyed state, looked up one by one.

    Args:
        table: Their table.
        refreshes: Rewrite repeated values, to renew their TTL.
    """

    def __init__(self, table: MapTable, *, refreshes: bool) -> None:
        self._table = table
        self._refreshes = refreshes

    def mark(self, keys: GroupKeys, values: Input, bits: Places) -> Places:
        """See ``SeenValues``."""
        tuples = list(zip(*(key_values(column) for column in values.columns), strict=True))
        get, put = self._table.get_entry, self._table.put_entry
        fresh: list[int] = []
        for group, value, now in zip(values.groups.ids.tolist(), tuples, bits.tolist(), strict=True):
            before = get(keys[group], value) or 0
            fresh.append(now & ~before)
            if fresh[-1] or (now and self._refreshes):
                put(keys[group], value, before | now)
        return np.array(fresh, np.int64)

    def clear(self, key: Any) -> None:
        """See ``SeenValues``."""
        self._table.remove(key)


class ArrayValues(SeenValues):
    """Values of groups with indexes, as numbers: integers themselves, others by the order of insertion.

    A group with values is permanent, as input is insert-only; so there are no removals.

    Args:
        table: Their table.
        kinds: The types of the columns.
    """

    def __init__(self, table: MapTable, kinds: Sequence[pa.DataType]) -> None:
        self._table = table
        self._kinds = kinds
        self._pairs = SeenPairs()
        self._values: list[Any] = []
        self._numbers: defaultdict[Any, int] = defaultdict(lambda: len(self._numbers))

    def mark(self, keys: GroupKeys, values: Input, bits: Places) -> Places:
        """See ``SeenValues``."""
        chosen = np.flatnonzero(bits)
        if len(chosen) < len(bits):
            values = values.take(chosen)
        found = np.zeros(len(bits), np.int64)
        found[chosen] = self._mark(keys.places[values.groups.ids], values.columns, bits[chosen])
        return found

    def _mark(self, groups: Places, columns: Sequence[Column], bits: Places) -> Places:
        column = columns[0]
        if len(columns) == 1 and pa.types.is_integer(column.type):
            if column.null_count:  # NULL is number 0 of the mirrored group
                groups = np.where(numbers(column.is_null()), ~groups, groups)
                column = column.fill_null(0)
            codes = numbers(column).astype(np.int64)
        else:
            codes = self._codes(list(zip(*(key_values(each) for each in columns), strict=True)))
        return bits & ~self._pairs.mark(groups, codes, bits)

    def _codes(self, values: Sequence[Any]) -> Places:
        found = np.fromiter(map(self._numbers.__getitem__, values), np.int64, len(values))
        if len(self._numbers) > len(self._values):
            self._values += islice(self._numbers, len(self._values), None)
        return found

    # State

    def flush(self, keys: Sequence[Any]) -> None:
        """Write changes to keyed state; ``keys`` are those of the groups by index."""
        groups, codes, bits = self._pairs.changed()
        if not len(groups):
            return
        owners = np.where(groups < 0, ~groups, groups)
        order = np.argsort(owners, kind="stable")
        owners = owners[order]
        values = self._known(groups[order], codes[order])
        all_bits = bits[order].tolist()
        start = 0
        for end in np.append(np.flatnonzero(owners[1:] != owners[:-1]) + 1, len(owners)).tolist():
            self._table.put_entries(keys[owners[start]], dict(zip(values[start:end], all_bits[start:end], strict=True)))
            start = end

    def _known(self, groups: Places, codes: Places) -> list[Any]:
        """Return the values of numbers, as they are in keyed state."""
        if self._values:
            return [self._values[code] for code in codes.tolist()]
        values: list[Any] = list(zip(codes.tolist(), strict=True))
        for place in np.flatnonzero(groups < 0).tolist():
            values[place] = (None,)
        return values

    def restore(self, places: Mapping[Any, int]) -> None:
        """Restore the contents from keyed state; ``places`` are the indexes of the groups."""
        for key, _, entries in self._table.items():
            columns = [pa.array(list(values), kind) for values, kind in zip(zip(*entries, strict=True), self._kinds, strict=True)]
            self._mark(np.full(len(entries), places[key]), columns, np.array(list(entries.values()), np.int64))
        self._pairs.changed()


def _merged(slot: Slot, old: Column, new: Column) -> Column:
    ids = np.arange(len(old))
    return slot.reduce(pa.concat_arrays([old, new]), Groups(np.concatenate([ids, ids]), len(old)))
