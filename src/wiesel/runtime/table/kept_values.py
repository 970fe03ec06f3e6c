"""Internal. The values of a group, each with how often it is there: for DISTINCT, and for MIN and MAX where rows are taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import Input
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.state.backend import MapTable

__all__ = ["KeptValues", "SeenValues", "distinct_values"]


def distinct_values(rows: Input) -> tuple[Input, Any]:
    """Return one row per group and different values, and how often each was added; less than 0 where it was taken back more often."""
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
        """Count rows; return those whose values were not there before, and with sign -1 those whose values are not there any more."""
        unique, counts = distinct_values(rows)
        values = list(zip(*(column.to_pylist() for column in unique.columns), strict=True))
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
        current = old.to_pylist()
        lost = zip(groups.ids[gone].tolist(), column.take(pa.array(gone)).to_pylist(), strict=True)
        searched = {group for group, value in lost if value == current[group]}
        come = slot.reduce(column.take(pa.array(added)), groups.take(added))
        found = _merged(slot, old, come)
        if not searched:
            return found
        pick = min if slot.how == "min" else max
        values = found.to_pylist()
        for group in searched:
            there = (value[0] for value, count in self._table.entries(keys[group]) if count > 0 and value[0] is not None)
            values[group] = pick(there, default=None)
        return pa.array(values, slot.type)

    def clear(self, key: Any) -> None:
        """Forget a group."""
        self._table.remove(key)


class SeenValues:
    """Which values of a group have come, where rows are only added: for DISTINCT with several filters at once, a bit for each.

    Args:
        table: Where they are kept.
        filters: Indexes of boolean columns; None for all rows.
        refreshes: Whether values that come again are written again, as they expire else.
    """

    def __init__(self, table: MapTable, filters: Sequence[int | None], *, refreshes: bool) -> None:
        self._table = table
        self._filters = filters
        self._refreshes = refreshes

    def update(self, keys: Sequence[Any], rows: Input, arguments: Sequence[int]) -> list[Input]:
        """Take rows; return for each filter those that pass it and whose values are new."""
        own = Input([rows.columns[index] for index in arguments], rows.groups)
        length = len(rows.groups)
        values = group_by(own.columns, length)
        pairs = group_by([pa.array(rows.groups.ids * max(values.count, 1) + values.ids)], length)
        bits = np.zeros(pairs.count, np.int64)
        for place, index in enumerate(self._filters):
            passed = np.zeros(pairs.count, np.bool_)
            passed[pairs.ids if index is None else pairs.ids[numbers(rows.columns[index].fill_null(False))]] = True
            bits |= passed.astype(np.int64) << place
        unique = own.take(pairs.first)
        fresh = self._mark(keys, unique, bits)
        return [unique.take(np.flatnonzero(fresh & (1 << place))) for place in range(len(self._filters))]

    def _mark(self, keys: Sequence[Any], unique: Input, bits: Places) -> Places:
        """Keep bits of values; return those that were not there."""
        values = list(zip(*(column.to_pylist() for column in unique.columns), strict=True))
        get, put = self._table.get_entry, self._table.put_entry
        fresh: list[int] = []
        for group, value, now in zip(unique.groups.ids.tolist(), values, bits.tolist(), strict=True):
            before = get(keys[group], value) or 0
            fresh.append(now & ~before)
            if fresh[-1] or (now and self._refreshes):
                put(keys[group], value, before | now)
        return np.array(fresh, np.int64)

    def clear(self, key: Any) -> None:
        """Forget a group."""
        self._table.remove(key)


def _merged(slot: Slot, old: Column, new: Column) -> Column:
    ids = np.arange(len(old))
    return slot.reduce(pa.concat_arrays([old, new]), Groups(np.concatenate([ids, ids]), len(old)))
