"""Internal. Keys of rows: tuples of the values of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.grouping import Places, group_by

__all__ = ["BatchKeys", "KeyIndex", "key_tuples", "key_values"]


def key_tuples(rows: pa.RecordBatch, columns: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the key of each row; the empty tuple where there are no columns."""
    if not columns:
        return [()] * rows.num_rows
    return list(zip(*(key_values(rows.column(index)) for index in columns), strict=True))


def key_values(column: pa.Array) -> list[Any]:
    """Return the values of a column."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return column.to_numpy().tolist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def _with_one_zero(column: pa.Array) -> pa.Array:
    """Return a column without -0.0, which is equal to 0.0 and another value for Arrow."""
    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column


class BatchKeys:
    """The different keys of a batch of rows, in the order in which they first come.

    Args:
        rows: The rows.
        columns: The columns of their key.
    """

    def __init__(self, rows: pa.RecordBatch, columns: Sequence[int]) -> None:
        values = [_with_one_zero(rows.column(index)) for index in columns]
        groups = group_by(values, rows.num_rows)
        firsts = pa.array(groups.first)
        self.ids: Places = groups.ids
        """For each row the place of its key."""
        self.count = groups.count
        self._columns = [column.take(firsts) for column in values]

    @cached_property
    def values(self) -> list[Any]:
        """The keys as :class:`KeyIndex` takes them: values where there is one column, else tuples."""
        if len(self._columns) == 1:
            return key_values(self._columns[0])
        return list(zip(*map(key_values, self._columns), strict=True)) if self._columns else [()] * self.count

    @cached_property
    def tuples(self) -> list[tuple[Any, ...]]:
        """The keys as tuples."""
        return [(value,) for value in self.values] if len(self._columns) == 1 else self.values

    def without_nulls(self, null_safe: Sequence[bool]) -> npt.NDArray[np.bool_]:
        """Return for each key whether it has no NULL in the columns for which NULL is equal to nothing."""
        whole = np.ones(self.count, np.bool_)
        for column, safe in zip(self._columns, null_safe, strict=True):
            if column.null_count and not safe:
                whole &= column.is_valid().to_numpy(zero_copy_only=False)
        return whole


class KeyIndex:
    """Numbers of keys, from 0 in the order in which they were added. ``len()`` is how many there are."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, keys: Sequence[Any]) -> Places:
        """Return the numbers of keys; -1 for those that were not added."""
        return np.fromiter(map(self._numbers.get, keys, repeat(-1)), np.int64, len(keys))

    def add(self, keys: Sequence[Any]) -> Places:
        """Return the numbers of keys, each of which comes once; those that are new are added."""
        found, known = self.find(keys), len(self._numbers)
        new = np.flatnonzero(found < 0)
        if len(new):
            fresh = keys if len(new) == len(keys) else [keys[place] for place in new.tolist()]
            self._numbers.update(zip(fresh, range(known, known + len(fresh)), strict=False))
            found[new] = np.arange(known, known + len(fresh))
        return found
