"""Internal. Grouping of the rows of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["FEW", "Groups", "Places", "distinct", "group_by", "grouped_column", "with_one_zero"]

Places = npt.NDArray[np.int64]

FEW = 64
"""Up to this number of rows, objects in a dict are faster than columns."""

_ARROW = pa.lib
_AS_OBJECTS = {
    **dict.fromkeys([_ARROW.Type_INT8, _ARROW.Type_INT16, _ARROW.Type_INT32, _ARROW.Type_INT64, _ARROW.Type_BOOL, _ARROW.Type_BINARY]),
    **dict.fromkeys([_ARROW.Type_DATE32, _ARROW.Type_TIME32], pa.int32()),
    _ARROW.Type_TIMESTAMP: pa.int64(),
    _ARROW.Type_STRING: pa.binary(),
}
"""By type: the conversion for comparing values as objects, None for none; other types, such as floats, compare differently in Arrow."""


@dataclass(frozen=True)
class Groups:
    """The group of each row, numbered from 0 in the order of first occurrence.

    Attributes:
        ids: The group number of each row.
        count: Number of groups; some may have no row, where rows were filtered out.
    """

    ids: Places
    count: int

    @staticmethod
    def each(length: int) -> Groups:
        """Return groups of one row each."""
        return Groups(np.arange(length), length)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def apart(self) -> bool:
        """True if each row is a separate group, and the groups are in the order of the rows."""
        return self.count == len(self.ids) and bool((self.ids == np.arange(self.count)).all())

    @cached_property
    def first(self) -> Places:
        """The index of each group's first row; -1 if it has none."""
        return self.firsts(np.arange(len(self.ids)))

    def firsts(self, places: Places) -> Places:
        """Return the first of some ascending row indexes in each group; -1 if it has none."""
        found = np.full(self.count, -1, np.int64)
        found[self.ids[places][::-1]] = places[::-1]
        return found

    def lasts(self, places: Places) -> Places:
        """Return the last of some ascending row indexes in each group; -1 if it has none."""
        found = np.full(self.count, -1, np.int64)
        found[self.ids[places]] = places
        return found

    @cached_property
    def order(self) -> Places:
        """The row indexes, sorted by group and stable within a group."""
        return np.argsort(self.ids, kind="stable")

    def sizes(self, lengths: Places | None = None) -> Places:
        """Return the number of rows of each group, or the sum of their lengths."""
        if lengths is None:
            return np.bincount(self.ids, minlength=self.count)
        found = np.zeros(self.count, np.int64)
        np.add.at(found, self.ids, lengths)
        return found

    def take(self, places: Places) -> Groups:
        """Return the groups of selected rows, with unchanged numbers."""
        return Groups(self.ids[places], self.count)


def distinct(numbers: Places, count: int) -> Places:
    """Return the distinct numbers below ``count`` in ascending order."""
    there = np.zeros(count, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there)


def grouped_column(column: pa.Array) -> Groups:
    """Return the groups of rows with equal values; NULL equals NULL, and -0.0 equals 0.0 as in Python's tuples."""
    if pa.types.is_null(column.type):
        return Groups(np.zeros(len(column), np.int64), min(len(column), 1))
    if pa.types.is_nested(column.type):
        return _nested_groups(column)
    encoded = with_one_zero(column).dictionary_encode(null_encoding="encode")
    return Groups(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary))


def _nested_groups(column: pa.Array) -> Groups:
    """Return the groups of rows, arrays or maps that are equal part by part; the order of entries of a map is significant."""
    if not len(column):
        return Groups.each(0)
    if pa.types.is_struct(column.type):
        return group_by([column.is_valid(), *column.flatten()], len(column))
    offsets = column.offsets.to_numpy().astype(np.int64)
    first, length = int(offsets[0]), int(offsets[-1] - offsets[0])
    parts = [column.keys, column.items] if pa.types.is_map(column.type) else [column.values]
    elements = group_by([part.slice(first, length) for part in parts], length)
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    return _groups_of_lists(elements, offsets[:-1] - first, np.where(valid, np.diff(offsets), -1))


def _groups_of_lists(elements: Groups, starts: Places, lengths: Places) -> Groups:
    """Return the groups of lists of elements, computed position by position over all lists of at least that length.

    A list and a longer one may have the same number here; they are distinguished by their lengths at the end.
    """
    ids = np.zeros(len(starts), np.int64)
    reaching, place = np.flatnonzero(lengths > 0), 0
    while len(reaching):
        pairs = ids[reaching] * elements.count + elements.ids[starts[reaching] + place]
        ids[reaching] = grouped_column(pa.array(pairs)).ids
        place += 1
        reaching = reaching[lengths[reaching] > place]
    return group_by([pa.array(lengths), pa.array(ids)], len(starts))


def with_one_zero(column: pa.Array) -> pa.Array:
    """Return a column with -0.0 replaced by 0.0, which Arrow treats as different values."""
    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column


def group_by(columns: Sequence[pa.Array], length: int) -> Groups:
    """Return the groups of rows whose columns are all equal; a single group if there are no columns."""
    if not columns or length == 1:
        return Groups(np.zeros(length, np.int64), min(length, 1))
    if length <= FEW and all(column.type.id in _AS_OBJECTS for column in columns):
        return _few_groups(columns)
    groups = grouped_column(columns[0])
    for column in columns[1:]:
        other = grouped_column(column)
        groups = grouped_column(pa.array(groups.ids * other.count + other.ids))
    return groups


def _few_groups(columns: Sequence[pa.Array]) -> Groups:
    """Return the groups of too few rows to justify Arrow's kernels."""
    viewed = ((column, _AS_OBJECTS[column.type.id]) for column in columns)
    values = [(column if kind is None else column.view(kind)).to_pylist() for column, kind in viewed]
    numbers: dict[Any, int] = {}
    ids = [numbers.setdefault(row, len(numbers)) for row in (values[0] if len(values) == 1 else zip(*values, strict=True))]
    return Groups(np.array(ids, np.int64), len(numbers))
