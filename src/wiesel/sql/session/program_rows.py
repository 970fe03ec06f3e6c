"""Internal. Rows that a program has, as tables: of Python values, of pandas, of Arrow."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_schema, arrow_type
from wiesel.columnar.rows import DECIMALS_OF_ELEMENTS, column_array
from wiesel.core.durations import Instant
from wiesel.core.errors import TypeMismatchError
from wiesel.sql.plan.relations import ArrowScan, Field
from wiesel.types import logical as t
from wiesel.types.row import Row

__all__ = ["arrow_scan_of", "elements_scan"]

_OF_PYTHON: dict[type, t.DataType] = {
    bool: t.BooleanType(),
    int: t.BigIntType(),
    float: t.DoubleType(),
    str: t.VarCharType(t.MAX_LENGTH),
    bytes: t.VarBinaryType(t.MAX_LENGTH),
    bytearray: t.VarBinaryType(t.MAX_LENGTH),
    Decimal: t.DecimalType(38, 18),
    datetime.datetime: t.TimestampType(6),
    datetime.date: t.DateType(),
    datetime.time: t.TimeType(),
    Instant: t.LocalZonedTimestampType(3),
}
_OF_ARROW: dict[pa.DataType, t.DataType] = {
    pa.bool_(): t.BooleanType(),
    pa.int8(): t.TinyIntType(),
    pa.int16(): t.SmallIntType(),
    pa.int32(): t.IntType(),
    pa.int64(): t.BigIntType(),
    pa.uint8(): t.SmallIntType(),
    pa.uint16(): t.IntType(),
    pa.uint32(): t.BigIntType(),
    pa.float32(): t.FloatType(),
    pa.float64(): t.DoubleType(),
    pa.string(): t.VarCharType(t.MAX_LENGTH),
    pa.large_string(): t.VarCharType(t.MAX_LENGTH),
    pa.binary(): t.VarBinaryType(t.MAX_LENGTH),
    pa.large_binary(): t.VarBinaryType(t.MAX_LENGTH),
    pa.date32(): t.DateType(),
    pa.date64(): t.DateType(),
    pa.null(): t.NullType(),
}
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def arrow_scan_of(rows: pa.Table, row_type: t.RowType | None) -> ArrowScan:
    """Return the table of Arrow's rows.

    Raises:
        ProgramError: If a column cannot be one of a table, or not of the type that was given for it.
    """
    if row_type is None:
        types = [_data_type(name, kind) for name, kind in zip(rows.schema.names, rows.schema.types, strict=True)]
        row_type = t.RowType([t.RowField(name, of) for name, of in zip(rows.schema.names, types, strict=True)], False)
    if len(row_type) != rows.num_columns:
        raise TypeMismatchError(
            f"there are {rows.num_columns} columns, but {len(row_type)} names or types", hint="give one for each column"
        )
    fields = tuple(Field(field.name, field.data_type) for field in row_type)
    schema = arrow_schema((field.name, field.data_type) for field in fields)
    try:
        arrays = [column.cast(wanted.type) for column, wanted in zip(rows.columns, schema, strict=True)]
    except pa.ArrowException as error:
        raise TypeMismatchError(f"a column is not of the type that was given: {error}", hint=f"the types are {row_type}") from error
    for field, column in zip(fields, arrays, strict=True):
        if column.null_count and not field.data_type.is_nullable:
            raise TypeMismatchError(f"column {t.quoted(field.name)} is NOT NULL, but holds null", hint="let its type be nullable")
    return ArrowScan(pa.Table.from_arrays(arrays, schema=schema), fields)


def _data_type(name: str, kind: pa.DataType) -> t.DataType:
    if kind in _OF_ARROW:
        return _OF_ARROW[kind]
    if pa.types.is_decimal(kind):
        return t.DecimalType(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return (t.LocalZonedTimestampType if kind.tz else t.TimestampType)(_DIGITS[kind.unit])
    if pa.types.is_time(kind):
        return t.TimeType(min(_DIGITS[kind.unit], 3))
    if pa.types.is_dictionary(kind):
        return _data_type(name, kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return t.ArrayType(_data_type(name, kind.value_type))
    if pa.types.is_map(kind):
        return t.MapType(_data_type(name, kind.key_type), _data_type(name, kind.item_type))
    if pa.types.is_struct(kind):
        return t.RowType([t.RowField(part.name, _data_type(name, part.type)) for part in kind])
    raise TypeMismatchError(f"column {t.quoted(name)}: values of Arrow's type {kind} cannot be those of a table", hint="cast the column")


def elements_scan(elements: Sequence[Any], schema: t.DataType | Sequence[str] | None) -> ArrowScan:
    """Return the table of Python values: rows, tuples, lists or dicts; anything else is the one column of a row.

    Raises:
        ProgramError: If rows differ in length, types do not fit, or there is nothing to tell the types from.
    """
    if isinstance(schema, t.DataType) and not isinstance(schema, t.RowType):
        schema = t.RowType([t.RowField("value", schema)])
        elements = [(element,) for element in elements]
    names = schema.names if isinstance(schema, t.RowType) else None if schema is None else list(schema)
    rows = [_values(element, names) for element in elements]
    width = len(names) if names is not None else len(rows[0]) if rows else 0
    for index, row in enumerate(rows):
        if len(row) != width:
            raise TypeMismatchError(f"element {index} has {len(row)} values, but there are {width} columns", hint="give rows of one length")
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]
    if not isinstance(schema, t.RowType):
        chosen = names if names is not None else [f"_{index}" for index in range(1, width + 1)]
        schema = t.RowType([t.RowField(name, _type_of(name, column)) for name, column in zip(chosen, columns, strict=True)], False)
    arrays = [_array(field, column) for field, column in zip(schema, columns, strict=True)]
    return arrow_scan_of(pa.Table.from_arrays(arrays, names=schema.names), schema)


def _values(element: Any, names: list[str] | None) -> Sequence[Any]:
    if isinstance(element, Row):
        return element._values
    if isinstance(element, dict):
        return [element.get(name) for name in (names if names is not None else element)]
    return element if isinstance(element, tuple | list) else (element,)


def _type_of(name: str, column: list[Any]) -> t.DataType:
    value = next((value for value in column if value is not None), None)
    found = _python_type(value)
    if found is None:
        message = f"column {t.quoted(name)}: there is no value to tell its type from"
        raise TypeMismatchError(message, hint="give a DataTypes.ROW([...]) as schema")
    return found


def _python_type(value: Any) -> t.DataType | None:
    if isinstance(value, list | tuple) and value:
        element = _python_type(next((each for each in value if each is not None), None))
        return None if element is None else t.ArrayType(element)
    if isinstance(value, dict) and value:
        key, item = next(iter(value.items()))
        key_type, item_type = _python_type(key), _python_type(item)
        return None if key_type is None or item_type is None else t.MapType(key_type, item_type)
    return _OF_PYTHON.get(type(value))


def _check_values(field: t.RowField, column: list[Any]) -> None:
    """Refuse values that Arrow would truncate, or take although they are too long."""
    of = field.data_type
    wrong: Any = None
    if isinstance(of, t.TinyIntType | t.SmallIntType | t.IntType | t.BigIntType):
        wrong = next((value for value in column if isinstance(value, float)), None)
    elif isinstance(of, t.CharType | t.VarCharType):
        wrong = next((value for value in column if isinstance(value, str) and len(value) > of.length), None)
    elif isinstance(of, t.BinaryType | t.VarBinaryType):
        wrong = next((value for value in column if isinstance(value, bytes | bytearray) and len(value) > of.length), None)
    if wrong is not None:
        message = f"column {t.quoted(field.name)} has a value that is no {of.as_summary_string()}: {wrong!r}"
        raise TypeMismatchError(message, hint="give values of this type")


def _array(field: t.RowField, column: list[Any]) -> pa.Array:
    _check_values(field, column)
    try:
        return column_array(column, arrow_type(field.data_type), DECIMALS_OF_ELEMENTS)
    except (pa.ArrowException, TypeError, ValueError, AttributeError) as error:
        kind = field.data_type.as_summary_string()
        message = f"column {t.quoted(field.name)} has values that are no {kind}: {error}"
        raise TypeMismatchError(message, hint="give values of this type") from error
