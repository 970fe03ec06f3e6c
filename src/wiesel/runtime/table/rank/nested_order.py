"""Internal. Lexicographic order of rows and arrays; NULL is first, a prefix precedes longer arrays."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["ranks"]

_NULL = (0,)
_NAN = (2,)
"""After all other numbers, as in Flink."""


def ranks(column: pa.Array) -> pa.Array:
    """Return numbers in the order of rows or arrays; equal ones have the same number, and NULL has the smallest."""
    values = _comparable(column)
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    return pa.array([places[value] for value in values], pa.int64())


def _comparable(column: pa.Array) -> list[Any]:
    """Return Python values with the order of the values of a column."""
    kind = column.type
    if pa.types.is_struct(kind):
        parts = list(zip(*map(_comparable, column.flatten()), strict=True)) if kind.num_fields else [()] * len(column)
        return [(1, part) if valid else _NULL for part, valid in zip(parts, _valid(column), strict=True)]
    if pa.types.is_list(kind):
        parts, starts = _comparable(column.values), column.offsets.to_pylist()
        return [
            (1, tuple(parts[start:end])) if valid else _NULL for start, end, valid in zip(starts, starts[1:], _valid(column), strict=False)
        ]
    if pa.types.is_temporal(kind):
        column = pc.cast(column, pa.int32() if kind.bit_width == 32 else pa.int64())
    # Only NaN is unequal to itself.
    return [_NULL if value is None else (1, value) if value == value else _NAN for value in column.to_pylist()]  # noqa: PLR0124


def _valid(column: pa.Array) -> list[bool]:
    return column.is_valid().to_pylist()  # type: ignore[no-any-return]
