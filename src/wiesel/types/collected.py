"""Internal. Conversions of values between the program and Flink's JVM, in ``from_collection`` and ``collect()``.

Recorded with PyFlink 2.3: Java turns booleans and numbers that are given for a STRING into their Java text. A FLOAT comes back as the
shortest decimal of its 32 bits (1.23), where a Python function sees the 64-bit value (1.2300000190734863). A BIG_DEC comes back without
an exponent, unless it is within a tuple, a row or another collection.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

from wiesel.types.java_strings import double_to_string, float_to_string
from wiesel.types.row import Row, make_row
from wiesel.types.typeinfo import BasicType, BasicTypeInfo, ExternalTypeInfo, MapTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation

__all__ = ["from_collection_converter", "to_collected_converter"]

Converter = Callable[[Any], Any]


def from_collection_converter(kind: TypeInformation) -> Converter | None:
    """Return the function that converts elements of a collection to strings where these are declared, ``None`` for other types."""
    return _converter(kind, {BasicType.STRING: _to_text})


def to_collected_converter(kind: TypeInformation | None) -> Converter | None:
    """Return the function that converts records to collected values, ``None`` where they are equal."""
    if isinstance(kind, BasicTypeInfo) and kind._basic_type is BasicType.BIG_DEC:
        return _plain
    return None if kind is None else _converter(kind, {BasicType.FLOAT: _shortest})


def _to_text(value: Any) -> Any:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return double_to_string(value)
        case int() | decimal.Decimal():
            return str(value)
    return value


def _shortest(value: Any) -> Any:
    return float(float_to_string(value)) if isinstance(value, float) else value


def _plain(value: Any) -> Any:
    return decimal.Decimal(f"{value:f}") if isinstance(value, decimal.Decimal) and value.is_finite() else value


def _converter(kind: TypeInformation, convert: dict[BasicType, Converter]) -> Converter | None:
    """Return the function that converts the parts of basic types, ``None`` if there are none. Values of another shape pass through."""
    if isinstance(kind, BasicTypeInfo):
        return convert.get(kind._basic_type)
    if isinstance(kind, ExternalTypeInfo):
        return _converter(kind._type_info, convert)
    parts = [_converter(child, convert) for child in kind.children()]
    if not any(parts):
        return None
    each = [_as_is if part is None else part for part in parts]
    if isinstance(kind, RowTypeInfo | TupleTypeInfo):
        return lambda value: _fields(value, each, kind)
    if isinstance(kind, MapTypeInfo):
        key, item = each
        return lambda value: {key(k): item(v) for k, v in value.items()} if isinstance(value, dict) else value
    element = each[0]
    return lambda value: [element(item) for item in value] if isinstance(value, list | tuple) else value


def _as_is(value: Any) -> Any:
    return value


def _fields(value: Any, each: list[Converter], kind: TypeInformation) -> Any:
    if isinstance(value, Row) and len(value) == len(each):
        names = value._names
        if names is not None and isinstance(kind, RowTypeInfo) and names != kind.get_field_names():
            return value  # its fields may be in another order
        return make_row(names, [convert(part) for convert, part in zip(each, value._values, strict=True)], value._row_kind)
    if isinstance(value, tuple | list) and len(value) == len(each):
        return tuple(convert(part) for convert, part in zip(each, value, strict=True))
    return value
