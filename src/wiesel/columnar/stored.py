"""Internal. Rows as tuples, as operators keep them in state: equal rows are equal tuples, which can be keys of a map.

Points in time are kept as the numbers that Arrow has for them, which is many times faster than objects of ``datetime``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

__all__ = ["columns_of", "stored_column", "stored_rows"]

StoredRow = tuple[Any, ...]


def stored_rows(rows: pa.RecordBatch) -> list[StoredRow]:
    """Return the rows of a batch as tuples."""
    if not rows.num_columns:
        return [()] * rows.num_rows
    return list(zip(*map(stored_column, rows.columns), strict=True))


def stored_column(column: pa.Array) -> list[Any]:
    """Return the values of a column."""
    number = _number_of(column.type)
    if number is not None:
        return column.view(number).to_pylist()  # type: ignore[no-any-return]
    freeze = _freezer(column.type)
    values: list[Any] = column.to_pylist()
    return values if freeze is None else [None if value is None else freeze(value) for value in values]


def columns_of(rows: Iterable[StoredRow], schema: pa.Schema) -> list[pa.Array]:
    """Return stored rows as columns."""
    values: Sequence[Iterable[Any]] = list(zip(*rows, strict=True)) or [()] * len(schema)
    return [_column(column, field.type) for column, field in zip(values, schema, strict=True)]


def _column(values: Iterable[Any], of: pa.DataType) -> pa.Array:
    number = _number_of(of)
    return pa.array(values, of) if number is None else pa.array(values, number).view(of)


def _number_of(of: pa.DataType) -> pa.DataType | None:
    if pa.types.is_timestamp(of):
        return pa.int64()
    return pa.int32() if pa.types.is_date32(of) or pa.types.is_time32(of) else None


def _freezer(of: pa.DataType) -> Callable[[Any], Any] | None:
    """Return what makes values of a type ones that can be hashed; None if they can."""
    if pa.types.is_list(of):
        inner = _freezer(of.value_type) or _same
        return lambda value: tuple(None if each is None else inner(each) for each in value)
    if pa.types.is_map(of):
        inner = _freezer(of.item_type) or _same
        return lambda value: tuple((key, None if each is None else inner(each)) for key, each in value)
    if pa.types.is_struct(of):
        fields = [(field.name, _freezer(field.type) or _same) for field in of]
        return lambda value: tuple(None if value[name] is None else inner(value[name]) for name, inner in fields)
    return None


def _same(value: Any) -> Any:
    return value
