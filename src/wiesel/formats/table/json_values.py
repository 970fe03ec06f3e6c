"""Internal. Values of columns from parsed JSON and to JSON, by data type, as Flink's JSON format has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.formats.csv_decimals import without_zeros
from wiesel.formats.table.string_values import decimal_of, text_reader, text_writer
from wiesel.types import logical as t

__all__ = ["JsonReader", "JsonWriter", "has_decimals", "json_reader", "json_writer"]

JsonReader = Callable[[Any], Any]
"""Turns a parsed value that is not null into one of a column; raises ``ValueError``, ``TypeError`` or ``KeyError``."""

JsonWriter = Callable[[Any], str]
_NUMBERS = (int, float, Decimal)


def has_decimals(data_type: t.DataType) -> bool:
    """Return whether there are numbers in values of a type that must not become binary ones on their way."""
    if isinstance(data_type, t.RowType):
        return any(has_decimals(field.data_type) for field in data_type)
    if isinstance(data_type, t.ArrayType | t.MultisetType):
        return has_decimals(data_type.element_type)
    if isinstance(data_type, t.MapType):
        return has_decimals(data_type.key_type) or has_decimals(data_type.value_type)
    return isinstance(data_type, t.DecimalType | t.CharType | t.VarCharType)


def _as_text(value: Any) -> str:
    """Return the text of a value that is no text, as JSON writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=float)


def json_reader(of: t.DataType, *, iso: bool, ignore: bool, fail_on_missing: bool = False) -> JsonReader:
    """Return what reads values of a type; with ``ignore`` those that cannot be read are None.

    Raises:
        ProgramError: If JSON has no values of the type.
    """
    read = _reader(of, iso, ignore, fail_on_missing)
    if not ignore:
        return read

    def lenient(value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, TypeError, KeyError, ArithmeticError):
            return None

    return lenient


def _reader(of: t.DataType, iso: bool, ignore: bool, fail_on_missing: bool) -> JsonReader:
    def inner(part: t.DataType) -> JsonReader:
        read = json_reader(part, iso=iso, ignore=ignore, fail_on_missing=fail_on_missing)
        return lambda value: None if value is None else read(value)

    if isinstance(of, t.ArrayType):
        element = inner(of.element_type)
        return lambda values: list(map(element, _checked(values, list)))
    if isinstance(of, t.MapType | t.MultisetType):
        key_type, value_type = (of.key_type, of.value_type) if isinstance(of, t.MapType) else (of.element_type, t.IntType())
        key, item = inner(key_type), inner(value_type)
        return lambda entries: {key(k): item(v) for k, v in _checked(entries, dict).items()}
    if isinstance(of, t.RowType):
        fields = [(field.name, inner(field.data_type)) for field in of]
        if fail_on_missing:
            return lambda value: tuple(read(_checked(value, dict)[name]) for name, read in fields)
        return lambda value: tuple(read(_checked(value, dict).get(name)) for name, read in fields)
    if isinstance(of, t.BooleanType):
        return lambda value: value if isinstance(value, bool) else _as_text(value).strip().lower() == "true"
    text = text_reader(of, iso=iso)
    if isinstance(of, t.IntegralType):
        return lambda value: text(str(int(value))) if isinstance(value, _NUMBERS) and not isinstance(value, bool) else text(_as_text(value))
    if isinstance(of, t.FloatType | t.DoubleType):
        return lambda value: float(value) if isinstance(value, _NUMBERS) and not isinstance(value, bool) else text(_as_text(value))
    if isinstance(of, t.DecimalType):
        fit = decimal_of(of)
        return lambda value: fit(Decimal(value)) if isinstance(value, int | Decimal) else text(_as_text(value))
    return lambda value: text(_as_text(value))


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {'object' if kind is dict else 'array'}")
    return value


def json_writer(of: t.DataType, *, iso: bool, plain_decimals: bool) -> JsonWriter:
    """Return what writes values of a type, NULL among them, as JSON.

    Raises:
        ProgramError: If JSON has no values of the type.
    """
    write = _writer(of, iso, plain_decimals)
    return lambda value: "null" if value is None else write(value)


def _writer(of: t.DataType, iso: bool, plain_decimals: bool) -> JsonWriter:
    def inner(part: t.DataType) -> JsonWriter:
        return json_writer(part, iso=iso, plain_decimals=plain_decimals)

    if isinstance(of, t.ArrayType):
        element = inner(of.element_type)
        return lambda values: f"[{','.join(map(element, values))}]"
    if isinstance(of, t.MapType | t.MultisetType):
        key_type, value_type = (of.key_type, of.value_type) if isinstance(of, t.MapType) else (of.element_type, t.IntType())
        if not isinstance(key_type, t.CharType | t.VarCharType):
            raise ProgramError("maps in JSON have strings as keys", hint=f"give the column another type than {of.as_summary_string()}")
        item = inner(value_type)
        return lambda entries: "{" + ",".join(f"{_quoted(k)}:{item(v)}" for k, v in entries.items()) + "}"
    if isinstance(of, t.RowType):
        fields = [(_quoted(field.name) + ":", inner(field.data_type)) for field in of]
        return lambda row: "{" + ",".join(name + write(v) for (name, write), v in zip(fields, row._values, strict=True)) + "}"
    if isinstance(of, t.DecimalType):
        return (lambda value: f"{value:f}") if plain_decimals else lambda value: str(without_zeros(value))
    text = text_writer(of, iso=iso)
    if isinstance(of, t.BooleanType | t.IntegralType):
        return text
    if isinstance(of, t.FloatType | t.DoubleType):
        return lambda value: text(value) if value - value == 0 else _quoted(text(value))
    return lambda value: _quoted(text(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
