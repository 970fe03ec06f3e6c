"""Internal. Conversion between rows of Python values and columns."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.row_batch import RowBatch, rows_of
from wiesel.core.durations import Instant
from wiesel.core.errors import ExpressionError
from wiesel.types.row import Row, RowKind, make_row
from wiesel.types.serializers import dumps

__all__ = ["DECIMALS_OF_ELEMENTS", "DECIMALS_OF_FUNCTIONS", "DecimalRounding", "column_array", "column_values", "from_rows", "to_rows"]

_KINDS = list(RowKind)
_Convert = Callable[[Any], Any]


def from_rows(rows: Sequence[Row], schema: pa.Schema) -> RowBatch:
    """Return rows as columns."""
    columns = zip(*(row._values for row in rows), strict=True) if rows else ([] for _ in schema)
    arrays = [column_array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    kinds = np.fromiter((row.get_row_kind().value for row in rows), np.uint8, len(rows))
    return RowBatch(rows_of(arrays, schema, len(rows)), kinds if kinds.any() else None)


@dataclass(frozen=True)
class DecimalRounding:
    """Rounding of Python decimals to the scale of a column.

    Attributes:
        mode: A rounding mode of the module ``decimal``.
        too_large_is_null: Convert numbers with too many integral digits to NULL instead of raising.
    """

    mode: str
    too_large_is_null: bool

    def converter(self, kind: pa.DataType) -> _Convert:
        """Return the function that rounds the numbers of a column of this type."""
        step, digits = Decimal(1).scaleb(-kind.scale), kind.precision - kind.scale
        context = Context(prec=kind.precision + 1, rounding=self.mode)

        def fit(value: Any) -> Any:
            if not isinstance(value, Decimal) or not value:
                return value
            if value.is_finite() and value.adjusted() < digits:
                rounded = value.quantize(step, context=context)
                if not rounded or rounded.adjusted() < digits:
                    return rounded
            if self.too_large_is_null:
                return None
            raise ValueError(f"{value} is too large for a DECIMAL({kind.precision}, {kind.scale})")

        return fit


DECIMALS_OF_ELEMENTS = DecimalRounding(ROUND_HALF_UP, too_large_is_null=True)
"""As Flink's Java code rounds rows given by programs."""
DECIMALS_OF_FUNCTIONS = DecimalRounding(ROUND_HALF_EVEN, too_large_is_null=False)
"""As PyFlink's workers round results of functions, in the context of the module ``decimal``."""


def column_array(values: Sequence[Any], kind: pa.DataType, decimals: DecimalRounding | None = None) -> pa.Array:
    """Return values as a column.

    Args:
        values: The values.
        kind: The type of the column.
        decimals: Rounding of decimals to the scale of the type; if None, numbers with more digits are an error.
    """
    convert = _to_arrow(kind, None)
    try:
        return pa.array(values if convert is None else [None if value is None else convert(value) for value in values], kind)
    except pa.ArrowInvalid:
        # Arrow accepts fitting decimals without a check of each.
        rounding = None if decimals is None or not _has_decimals(kind) else _to_arrow(kind, decimals)
        if rounding is None:
            raise
        return pa.array([None if value is None else rounding(value) for value in values], kind)


def _has_decimals(kind: pa.DataType) -> bool:
    if pa.types.is_decimal(kind):
        return True
    return any(_has_decimals(kind.field(index).type) for index in range(kind.num_fields))


def _to_arrow(kind: pa.DataType, decimals: DecimalRounding | None) -> _Convert | None:
    """Return the function that converts values for Arrow, None if there is none."""
    if pa.types.is_decimal(kind):
        return None if decimals is None else decimals.converter(kind)
    if pa.types.is_timestamp(kind):
        return _zoned_value(kind) if kind.tz else None
    if pa.types.is_large_binary(kind):
        return dumps
    if pa.types.is_struct(kind):
        names = [kind.field(index).name for index in range(kind.num_fields)]
        inner = [_to_arrow(kind.field(index).type, decimals) or _same for index in range(kind.num_fields)]
        return lambda row: {
            name: None if value is None else convert(value) for name, convert, value in zip(names, inner, _parts(row), strict=True)
        }
    if pa.types.is_map(kind):
        key, item = _to_arrow(kind.key_type, decimals) or _same, _to_arrow(kind.item_type, decimals) or _same
        return lambda entries: [(key(k), None if v is None else item(v)) for k, v in entries.items()]
    if pa.types.is_list(kind):
        element = _to_arrow(kind.value_type, decimals)
        return None if element is None else lambda values: [None if value is None else element(value) for value in values]
    return None


def _parts(row: Any) -> Any:
    return row._values if isinstance(row, Row) else row


def _same(value: Any) -> Any:
    return value


_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def _zoned_value(kind: pa.DataType) -> _Convert:
    per_second = _PER_SECOND[kind.unit]
    nanos = 1_000_000_000 // per_second

    def convert(value: Any) -> Any:
        return value.seconds * per_second + value.nanos // nanos if isinstance(value, Instant) else value

    return convert


def to_rows(batch: RowBatch, *, collected: bool = False) -> list[Row]:
    """Return the rows as objects with the column names, or as returned by ``collect()``: see :func:`column_values`."""
    names = None if collected else batch.rows.schema.names
    columns = [column_values(column, collected=collected) for column in batch.rows.columns]
    values = zip(*columns, strict=True) if columns else iter([()] * len(batch))
    if batch.kinds is None:
        return [make_row(names, list(row)) for row in values]
    return [make_row(names, list(row), _KINDS[kind]) for row, kind in zip(values, batch.kinds, strict=True)]


def column_values(column: pa.Array, *, collected: bool = False) -> list[Any]:
    """Return the values of a column: rows for structs, dicts for maps, instants for timestamps with a zone, objects for RAW.

    Rows have field names. Keys of maps that are arrays become tuples, those that are maps tuples of pairs.

    Args:
        column: The column.
        collected: Convert as ``collect()`` does: rows without names, FLOATs as the shortest decimals of their 32 bits.
    """
    kind = column.type
    if pa.types.is_timestamp(kind):
        if kind.tz:
            return _instants(column)
        return _plain_values(column.cast(pa.timestamp("us"), safe=False) if kind.unit == "ns" else column)
    if pa.types.is_struct(kind):
        names = None if collected else [kind.field(index).name for index in range(kind.num_fields)]
        columns = [column_values(part, collected=collected) for part in column.flatten()]
        parts = zip(*columns, strict=True) if columns else iter([()] * len(column))
        return [make_row(names, list(row)) if valid else None for row, valid in zip(parts, _valid(column), strict=True)]
    if pa.types.is_map(kind):
        keys, items = column_values(column.keys, collected=collected), column_values(column.items, collected=collected)
        starts = column.offsets.to_pylist()
        if pa.types.is_nested(kind.key_type):
            keys = list(map(_as_key, keys))
        return [
            dict(zip(keys[a:b], items[a:b], strict=True)) if valid else None
            for a, b, valid in zip(starts, starts[1:], _valid(column), strict=False)
        ]
    if pa.types.is_large_binary(kind):
        return [None if value is None else pickle.loads(value) for value in column.to_pylist()]
    if collected and pa.types.is_float32(kind):
        return column.cast(pa.string()).cast(pa.float64()).to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_list(kind) and (_is_deep(kind.value_type) or (collected and pa.types.is_float32(kind.value_type))):
        items, starts = column_values(column.values, collected=collected), column.offsets.to_pylist()
        return [items[a:b] if valid else None for a, b, valid in zip(starts, starts[1:], _valid(column), strict=False)]
    return _plain_values(column)


def _plain_values(column: pa.Array) -> list[Any]:
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError) as error:
        raise ExpressionError(
            f"a column of type {column.type} has no Python representation: {error}",
            hint="Python's dates and times have the years 1 to 9999; CAST(... AS STRING) shows others",
        ) from error


def _as_key(value: Any) -> Any:
    """Return a value with lists and dicts converted to tuples."""
    if isinstance(value, dict):
        return tuple((_as_key(key), _as_key(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(map(_as_key, value))
    return make_row(value._names, list(map(_as_key, value))) if isinstance(value, Row) else value


def _is_deep(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind):
        return kind.tz is not None or kind.unit == "ns"
    return bool(pa.types.is_nested(kind) or pa.types.is_large_binary(kind))


def _valid(column: pa.Array) -> list[bool]:
    return column.is_valid().to_pylist()  # type: ignore[no-any-return]


def _instants(column: pa.Array) -> list[Any]:
    per_second = _PER_SECOND[column.type.unit]
    nanos = 1_000_000_000 // per_second
    numbers = column.cast(pa.int64()).to_pylist()
    return [None if n is None else Instant(n // per_second, n % per_second * nanos) for n in numbers]
