"""Internal. Rows as tuples for operator state: equal rows are equal tuples, which can be keys of a map.

Timestamps are stored as Arrow's numbers, which is many times faster than objects of ``datetime``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["NAN", "columns_of", "frozen", "number_of", "stored_column", "stored_rows"]

StoredRow = tuple[Any, ...]


class _OneNaN(float):
    """NaN as a key: a singleton, also in keys restored from state, as NaN equals itself by identity only."""

    def __reduce__(self) -> str:
        return "NAN"


NAN = _OneNaN("nan")


def stored_rows(rows: pa.RecordBatch) -> list[StoredRow]:
    """Return the rows of a batch as tuples."""
    if not rows.num_columns:
        return [()] * rows.num_rows
    return list(zip(*map(stored_column, rows.columns), strict=True))


def stored_column(column: pa.Array) -> list[Any]:
    """Return the values of a column with NaN normalised: retracted rows are looked up by their values."""
    if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        return [NAN if value != value else value for value in column.to_pylist()]
    number = number_of(column.type)
    if number is not None:
        return column.view(number).to_pylist()  # type: ignore[no-any-return]
    return frozen(column) if pa.types.is_nested(column.type) else column.to_pylist()


def frozen(column: pa.Array) -> list[Any]:
    """Return hashable values of rows, arrays or maps, with NaN normalised."""
    freeze = _freezer(column.type)
    return [None if value is None else freeze(value) for value in column.to_pylist()]


def columns_of(rows: Iterable[StoredRow], schema: pa.Schema) -> list[pa.Array]:
    """Convert stored rows to columns."""
    values: Sequence[Iterable[Any]] = list(zip(*rows, strict=True)) or [()] * len(schema)
    return [_column(column, field.type) for column, field in zip(values, schema, strict=True)]


def _column(values: Iterable[Any], of: pa.DataType) -> pa.Array:
    number = number_of(of)
    return pa.array(values, of) if number is None else pa.array(values, number).view(of)


def number_of(of: pa.DataType) -> pa.DataType | None:
    """Return the type of Arrow's numbers for temporal types; None for other types."""
    if pa.types.is_timestamp(of):
        return pa.int64()
    return pa.int32() if pa.types.is_date32(of) or pa.types.is_time32(of) else None


def _freezer(of: pa.DataType) -> Callable[[Any], Any]:
    """Return the function that makes values of a type hashable."""
    if pa.types.is_list(of):
        inner = _freezer(of.value_type)
        return lambda value: tuple(None if each is None else inner(each) for each in value)
    if pa.types.is_map(of):
        of_key, of_item = _freezer(of.key_type), _freezer(of.item_type)
        return lambda value: tuple((None if key is None else of_key(key), None if each is None else of_item(each)) for key, each in value)
    if pa.types.is_struct(of):
        fields = [(field.name, _freezer(field.type)) for field in of]
        return lambda value: tuple(None if value[name] is None else inner(value[name]) for name, inner in fields)
    return _with_one_nan if pa.types.is_floating(of) else _same


def _with_one_nan(value: float) -> float:
    return NAN if value != value else value


def _same(value: Any) -> Any:
    return value
