"""Internal. Arrow's types for declared types, and rows as columns and back."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from wiesel.core.errors import ArgumentTypeError, ProgramError, TypeMismatchError
from wiesel.formats.csv_fields import element_type, row_values
from wiesel.formats.java_text import is_bytes
from wiesel.types.logical import RowType
from wiesel.types.logical_conversion import to_type_info
from wiesel.types.row import Row, make_row
from wiesel.types.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
)

__all__ = ["arrow_schema", "arrow_type", "row_type_of", "rows_to_batch"]

_BASIC = {
    BasicType.STRING: pa.string(),
    BasicType.CHAR: pa.string(),
    BasicType.BOOLEAN: pa.bool_(),
    BasicType.BYTE: pa.int8(),
    BasicType.SHORT: pa.int16(),
    BasicType.INT: pa.int32(),
    BasicType.LONG: pa.int64(),
    BasicType.FLOAT: pa.float32(),
    BasicType.DOUBLE: pa.float64(),
    BasicType.BIG_DEC: pa.decimal128(38, 18),
}


def arrow_type(kind: TypeInformation, where: str) -> Any:
    """Return Arrow's type for a declared one.

    Raises:
        ProgramError: If Arrow has none.
    """
    if isinstance(kind, BasicTypeInfo) and kind._basic_type in _BASIC:
        return _BASIC[kind._basic_type]
    if isinstance(kind, DateTypeInfo):
        return pa.date32()
    if isinstance(kind, TimeTypeInfo):
        return pa.time64("us")
    if isinstance(kind, TimestampTypeInfo):
        return pa.timestamp("us")
    if isinstance(kind, LocalTimeTypeInfo):
        return {"LOCAL_DATE": pa.date32(), "LOCAL_TIME": pa.time64("us")}.get(kind._time_type.name, pa.timestamp("us"))
    if is_bytes(kind):
        return pa.binary()
    element = element_type(kind)
    if element is not None:
        return pa.list_(arrow_type(element, where))
    if isinstance(kind, MapTypeInfo):
        key, item = kind.children()
        return pa.map_(arrow_type(key, where), arrow_type(item, where))
    if isinstance(kind, RowTypeInfo):
        return pa.struct(list(arrow_schema(kind, where)))
    raise ProgramError(f"{where}: Arrow and Parquet have no type for {kind}", hint="use basic types, dates, times, lists, maps and rows")


def row_type_of(given: object) -> RowTypeInfo:
    """Return the row type that is meant: it may be given as the type of records or as that of columns.

    Raises:
        ProgramError: If it is no row type.
    """
    kind = to_type_info(given) if isinstance(given, RowType) else given
    if isinstance(kind, ExternalTypeInfo):
        kind = kind.children()[0]
    if not isinstance(kind, RowTypeInfo):
        raise ArgumentTypeError(f"{given!r} is not the type of a row", hint="give Types.ROW_NAMED(names, types) or DataTypes.ROW(fields)")
    return kind


def arrow_schema(kind: RowTypeInfo, where: str) -> Any:
    """Return Arrow's schema for a row type."""
    names = kind.get_field_names()
    return pa.schema([(n, arrow_type(k, f"{where}.{n}")) for n, k in zip(names, kind.get_field_types(), strict=True)])


def rows_to_batch(values: Sequence[Any], schema: Any) -> Any:
    """Return rows, tuples or dicts as a record batch.

    Raises:
        TypeMismatchError: If a value does not fit the schema.
    """
    names = list(schema.names)
    rows = [row_values(value, names) for value in values]
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    arrays = []
    for field, column in zip(schema, columns, strict=True):
        try:
            arrays.append(pa.array([_plain(item) for item in column] if pa.types.is_nested(field.type) else column, field.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError) as error:
            raise TypeMismatchError(
                f"column {field.name} of {rows[0]!r} and those with it is no {field.type}: {error}", hint="check the type and the records"
            ) from error
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _plain(value: Any) -> Any:
    """Return nested rows as Arrow takes them."""
    if isinstance(value, Row):
        return {n: _plain(v) for n, v in zip(value._names, value._values, strict=True)} if value._names else tuple(map(_plain, value))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return list(value.items()) if isinstance(value, dict) else value


def column_values(column: Any, kind: TypeInformation) -> list[Any]:
    """Return the values of an Arrow column as Python has them for a declared type."""
    values: list[Any] = column.to_pylist()
    convert = _converter(kind)
    return values if convert is None else [None if value is None else convert(value) for value in values]


def _converter(kind: TypeInformation) -> Any:
    """Return the function that makes values of ``to_pylist`` ones of the declared type; None if they are."""
    if isinstance(kind, RowTypeInfo):
        names = kind.get_field_names()
        parts = [(n, _converter(k)) for n, k in zip(names, kind.get_field_types(), strict=True)]
        return lambda value: make_row(names, [value[n] if c is None or value[n] is None else c(value[n]) for n, c in parts])
    if isinstance(kind, MapTypeInfo):
        return dict
    if isinstance(kind, TimestampTypeInfo | LocalTimeTypeInfo):
        return lambda value: value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
    element = element_type(kind)
    inner = None if element is None else _converter(element)
    if inner is None:
        return None
    return lambda value: [None if item is None else inner(item) for item in value]
