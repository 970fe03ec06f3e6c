"""Internal. Which rows of a batch belong to the same group."""

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
"""Up to so many rows objects in a dict are faster than columns."""

_ARROW = pa.lib
_AS_OBJECTS = {
    **dict.fromkeys([_ARROW.Type_INT8, _ARROW.Type_INT16, _ARROW.Type_INT32, _ARROW.Type_INT64, _ARROW.Type_BOOL, _ARROW.Type_BINARY]),
    **dict.fromkeys([_ARROW.Type_DATE32, _ARROW.Type_TIME32], pa.int32()),
    _ARROW.Type_TIMESTAMP: pa.int64(),
    _ARROW.Type_STRING: pa.binary(),
}
"""By type as what values of it are compared as objects, None for as they are; others, as floats, are not equal where Arrow's are."""


@dataclass(frozen=True)
class Groups:
    """The group of each row: numbers from 0 in the order in which the groups first come.

    Attributes:
        ids: The number of each row's group.
        count: How many groups there are; some may have no row, where rows were left out.
    """

    ids: Places
    count: int

    @staticmethod
    def each(length: int) -> Groups:
        """Return a group for each row."""
        return Groups(np.arange(length), length)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def apart(self) -> bool:
        """Whether each row is a group of its own, and the groups are in their order: what there is of a group is its row."""
        return self.count == len(self.ids) and bool((self.ids == np.arange(self.count)).all())

    @cached_property
    def first(self) -> Places:
        """The place of each group's first row; -1 where it has none."""
        return self.firsts(np.arange(len(self.ids)))

    def firsts(self, places: Places) -> Places:
        """Return which of some places, in rising order, is the first of each group; -1 where it has none."""
        found = np.full(self.count, -1, np.int64)
        found[self.ids[places][::-1]] = places[::-1]
        return found

    def lasts(self, places: Places) -> Places:
        """Return which of some places, in rising order, is the last of each group; -1 where it has none."""
        found = np.full(self.count, -1, np.int64)
        found[self.ids[places]] = places
        return found

    @cached_property
    def order(self) -> Places:
        """The rows' places, group by group, in their order within a group."""
        return np.argsort(self.ids, kind="stable")

    def sizes(self, lengths: Places | None = None) -> Places:
        """Return how many rows each group has, or the sum of the rows' lengths."""
        if lengths is None:
            return np.bincount(self.ids, minlength=self.count)
        found = np.zeros(self.count, np.int64)
        np.add.at(found, self.ids, lengths)
        return found

    def take(self, places: Places) -> Groups:
        """Return the groups of some of the rows, with the same numbers."""
        return Groups(self.ids[places], self.count)


def distinct(numbers: Places, count: int) -> Places:
    """Return the different ones of numbers below ``count``, in rising order."""
    there = np.zeros(count, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there)


def grouped_column(column: pa.Array) -> Groups:
    """Return the groups of rows with equal values, where NULL is equal to NULL, and -0.0 to 0.0 as in Python's tuples."""
    if pa.types.is_null(column.type):
        return Groups(np.zeros(len(column), np.int64), min(len(column), 1))
    if pa.types.is_nested(column.type):
        return _nested_groups(column)
    encoded = with_one_zero(column).dictionary_encode(null_encoding="encode")
    return Groups(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary))


def _nested_groups(column: pa.Array) -> Groups:
    """Return the groups of rows, arrays or maps that are equal part by part; the entries of a map count in their order."""
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
    """Return the groups of lists of elements: their places one after the other, each for all lists that reach so far.

    Lists of which one is longer than the other may have one number here, and are told apart by their lengths at the end.
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
    """Return a column without -0.0, which is equal to 0.0 and another value for Arrow."""
    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column


def group_by(columns: Sequence[pa.Array], length: int) -> Groups:
    """Return the groups of rows of which all columns are equal; one group of all rows where there are no columns."""
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
    """Return the groups of rows that are too few to pay for Arrow's kernels."""
    viewed = ((column, _AS_OBJECTS[column.type.id]) for column in columns)
    values = [(column if kind is None else column.view(kind)).to_pylist() for column, kind in viewed]
    numbers: dict[Any, int] = {}
    ids = [numbers.setdefault(row, len(numbers)) for row in (values[0] if len(values) == 1 else zip(*values, strict=True))]
    return Groups(np.array(ids, np.int64), len(numbers))
