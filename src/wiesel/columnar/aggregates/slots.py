"""Internal. Slots: the state of aggregates per group, as columns with a value per group.

A slot has a type and a reduction of several values to one: their sum, the minimum, the first ... The reduction is the same for rows, for
partial aggregates of a group, and for merging state with new values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.grouping import Groups

__all__ = ["Column", "Slot", "merged", "numbers"]

Column: TypeAlias = Any
"""A ``pyarrow.Array``."""


@dataclass(frozen=True)
class Slot:
    """Attributes: ``how`` values are reduced, a name of ``_REDUCED``; the ``type`` of the values; the value of a group without rows."""

    how: str
    type: pa.DataType
    empty: Any = None

    def reduce(self, column: Column, groups: Groups) -> Column:
        """Reduce one value per row to a value per group."""
        if groups.apart and (self.how in _OF_ITSELF or (self.how == "sum" and pa.types.is_integer(column.type))):
            return column if column.type == self.type else column.cast(self.type)
        return _REDUCED[self.how](self, column, groups)

    def column(self, values: list[Any]) -> Column:
        """Convert stored values to a column."""
        return pa.array(values, self.type)


def merged(slot: Slot, old: Column, new: Column) -> Column:
    """Merge two columns with a value per group."""
    count = len(old)
    ids = np.arange(count)
    return slot.reduce(pa.concat_arrays([old, new]), Groups(np.concatenate([ids, ids]), count))


def numbers(column: Column) -> npt.NDArray[Any]:
    """Return a column of numbers without NULL for numpy."""
    return column.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _sum(slot: Slot, column: Column, groups: Groups) -> Column:
    if pa.types.is_decimal(slot.type):
        return _decimal_sum(slot, column, groups)
    values = numbers(column)
    found = np.zeros(groups.count, values.dtype)
    np.add.at(found, groups.ids, values)
    return pa.array(found, slot.type)


def _decimal_sum(slot: Slot, column: Column, groups: Groups) -> Column:
    table = pa.table([pa.array(groups.ids), column], ["group", "value"])
    sums = table.group_by("group", use_threads=False).aggregate([("value", "sum")])
    places = np.full(groups.count, -1, np.int64)
    places[numbers(sums["group"].combine_chunks())] = np.arange(len(sums))
    found = _taken(sums["value_sum"].combine_chunks().cast(slot.type), places)
    return pc.fill_null(found, pa.scalar(slot.empty, slot.type))


def _taken(column: Column, places: npt.NDArray[np.int64]) -> Column:
    """Return values by their places, NULL where the place is negative."""
    return column.take(pa.array(places, mask=places < 0))


def _valid_places(column: Column) -> npt.NDArray[np.int64]:
    return np.flatnonzero(numbers(column.is_valid())) if column.null_count else np.arange(len(column))


def _least(slot: Slot, column: Column, groups: Groups) -> Column:
    return _extreme(column, groups, np.minimum, 1)


def _greatest(slot: Slot, column: Column, groups: Groups) -> Column:
    return _extreme(column, groups, np.maximum, -1)


def _extreme(column: Column, groups: Groups, pick: Any, sign: int) -> Column:
    places = _valid_places(column)
    values = column.take(pa.array(places)) if column.null_count else column
    ids = groups.ids[places] if column.null_count else groups.ids
    if pa.types.is_integer(column.type):
        return _extreme_number(numbers(values), ids, groups.count, pick, column.type)
    # All other types by the ranks of their values.
    codes = values.dictionary_encode()
    sorted_places = numbers(pc.sort_indices(codes.dictionary)).astype(np.int64)
    ranks = np.empty(len(sorted_places), np.int64)
    ranks[sorted_places] = np.arange(len(sorted_places))
    unset = len(sorted_places) if sign > 0 else -1
    best = np.full(groups.count, unset, np.int64)
    pick.at(best, ids, ranks[numbers(codes.indices)])
    places = np.where(best == unset, -1, np.append(sorted_places, -1)[best])
    return _taken(codes.dictionary, places)


def _extreme_number(values: npt.NDArray[Any], ids: npt.NDArray[np.int64], count: int, pick: Any, kind: pa.DataType) -> Column:
    limits = np.iinfo(values.dtype)
    best = np.full(count, limits.max if pick is np.minimum else limits.min, values.dtype)
    pick.at(best, ids, values)
    found = np.zeros(count, np.bool_)
    found[ids] = True
    return pa.array(best, kind, mask=None if found.all() else ~found)


def _first(slot: Slot, column: Column, groups: Groups) -> Column:
    return _taken(column, groups.firsts(_valid_places(column)))


def _last(slot: Slot, column: Column, groups: Groups) -> Column:
    return _taken(column, groups.lasts(_valid_places(column)))


def _joined(slot: Slot, column: Column, groups: Groups) -> Column:
    """Lists one behind the other."""
    lengths = numbers(pc.fill_null(pc.list_value_length(column), 0)).astype(np.int64)
    sizes = groups.sizes(lengths)
    values = column.take(pa.array(groups.order)).flatten()
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values).cast(slot.type)


def _moments(slot: Slot, column: Column, groups: Groups) -> Column:
    """Of several numbers of values, means and sums of squared distances those of all values."""
    parts = numbers(column.flatten()).reshape(-1, 3)
    ids, count = groups.ids, groups.count
    total, weighted, squares = np.zeros(count), np.zeros(count), np.zeros(count)
    np.add.at(total, ids, parts[:, 0])
    np.add.at(weighted, ids, parts[:, 0] * parts[:, 1])
    mean = np.where(total == 0, 0.0, weighted / np.where(total == 0, 1.0, total))
    np.add.at(squares, ids, parts[:, 2] + parts[:, 0] * (parts[:, 1] - mean[ids]) ** 2)
    found = np.stack([total, mean, np.where(total == 0, 0.0, squares)], axis=1)
    return pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), 3)


_OF_ITSELF = ("min", "max", "first", "last")
"""Reductions that map a single value to itself; a sum does not, as it adds 0.0 to -0.0."""

_REDUCED: dict[str, Callable[[Slot, Column, Groups], Column]] = {
    "sum": _sum,
    "min": _least,
    "max": _greatest,
    "first": _first,
    "last": _last,
    "list": _joined,
    "moments": _moments,
}
