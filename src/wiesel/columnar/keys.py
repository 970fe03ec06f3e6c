"""Internal. Keys of rows: tuples of the values of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.grouping import Places, group_by, with_one_zero
from wiesel.columnar.stored import NAN, frozen, number_of

__all__ = ["BatchKeys", "key_tuples", "key_values"]


def key_tuples(rows: pa.RecordBatch, columns: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the key of each row; empty tuples if there are no columns."""
    if not columns:
        return [()] * rows.num_rows
    return list(zip(*(key_values(rows.column(index)) for index in columns), strict=True))


def key_values(column: pa.Array) -> list[Any]:
    """Return the hashable values of a column, from which ``pa.array`` can recreate it.

    There is one NaN. Rows and arrays are tuples, maps tuples of pairs, times within them Arrow's numbers.
    """
    of = column.type
    if pa.types.is_integer(of) and not column.null_count:
        return column.to_numpy().tolist()  # type: ignore[no-any-return]
    if pa.types.is_nested(of):
        plain = _without_times(of)
        return frozen(column if plain == of else column.cast(plain))
    if pa.types.is_floating(of):
        return _floats(column)
    return column.to_pylist()  # type: ignore[no-any-return]


def _floats(column: pa.Array) -> list[Any]:
    numbers = column.to_numpy(zero_copy_only=False)  # NaN for NULL
    values: list[Any] = column.to_pylist() if column.null_count else numbers.tolist()
    return [NAN if value != value else value for value in values] if np.isnan(numbers).any() else values


def _without_times(of: pa.DataType) -> pa.DataType:
    """Return a type with times replaced by numbers, as Python's objects have a lower resolution."""
    if pa.types.is_struct(of):
        return pa.struct([field.with_type(_without_times(field.type)) for field in of])
    if pa.types.is_map(of):
        return pa.map_(_without_times(of.key_type), _without_times(of.item_type))
    if pa.types.is_list(of):
        return pa.list_(of.value_field.with_type(_without_times(of.value_type)))
    number = number_of(of)
    return of if number is None else number


class BatchKeys:
    """The distinct keys of a batch of rows, in the order of first occurrence.

    Args:
        rows: The rows.
        columns: Indexes of the key columns.
    """

    def __init__(self, rows: pa.RecordBatch, columns: Sequence[int]) -> None:
        values = [with_one_zero(rows.column(index)) for index in columns]
        groups = group_by(values, rows.num_rows)
        firsts = pa.array(groups.first)
        self.ids: Places = groups.ids
        """The index of the key of each row."""
        self.count = groups.count
        self._columns = [column.take(firsts) for column in values]

    @cached_property
    def values(self) -> list[Any]:
        """The keys: plain values for one column, else tuples."""
        if len(self._columns) == 1:
            return key_values(self._columns[0])
        return list(zip(*map(key_values, self._columns), strict=True)) if self._columns else [()] * self.count

    @cached_property
    def integers(self) -> list[Places]:
        """The key columns as integers; 0 for NULL."""
        filled = (column.fill_null(0) if column.null_count else column for column in self._columns)
        return [np.ascontiguousarray(column.to_numpy(zero_copy_only=False), np.int64) for column in filled]

    @cached_property
    def whole(self) -> npt.NDArray[np.bool_]:
        """True for each key without NULL."""
        return self.without_nulls([False] * len(self._columns))

    @cached_property
    def tuples(self) -> list[tuple[Any, ...]]:
        """The keys as tuples."""
        return [(value,) for value in self.values] if len(self._columns) == 1 else self.values

    def without_nulls(self, null_safe: Sequence[bool]) -> npt.NDArray[np.bool_]:
        """Return for each key whether it has no NULL in the columns that are not null-safe."""
        whole = np.ones(self.count, np.bool_)
        for column, safe in zip(self._columns, null_safe, strict=True):
            if column.null_count and not safe:
                whole &= column.is_valid().to_numpy(zero_copy_only=False)
        return whole
