"""Internal. Values as JSON, by declared type, as Flink's row schemas read and write them."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from wiesel.core.errors import ProgramError
from wiesel.formats.csv_fields import element_type, row_values
from wiesel.formats.java_text import INTEGERS, base64_bytes, is_bytes, is_text, parse_double, parse_integer, text_writer
from wiesel.types.coercion import round_to_float
from wiesel.types.row import Row, make_row
from wiesel.types.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

__all__ = ["JsonReader", "json_reader", "json_text", "json_writer", "parse_json", "untyped_writer"]

JsonReader: TypeAlias = Callable[[Any], Any]
"""Turns a parsed JSON value, which is not null, into a value; raises ``ValueError``, ``TypeError`` or ``KeyError``."""

_TIME = re.compile(r"(\d\d:\d\d:\d\d)Z")
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_decode: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder(parse_constant=_no_constant))["scan_once"]


def parse_json(text: str) -> Any:
    """Return the value at the start of a text; what follows it is not looked at, as in Flink.

    Raises:
        ValueError: If there is none.
    """
    try:
        return _decode(text, 0)[0]
    except StopIteration:
        pass
    stripped = text.lstrip(" \t\r\n")
    try:
        return _decode(stripped, 0)[0]
    except StopIteration as error:
        raise ValueError("no JSON value" if stripped else "no content") from error


def json_reader(kind: TypeInformation, where: str, *, fail_on_missing: bool = False, ignore_errors: bool = False) -> JsonReader:
    """Return the function that reads values of a type.

    Args:
        kind: The type.
        where: Where the type was declared, for errors.
        fail_on_missing: Whether an absent field of a row is an error.
        ignore_errors: Whether a field that cannot be read is None instead of an error.

    Raises:
        ProgramError: If JSON has no values of the type.
    """
    if isinstance(kind, RowTypeInfo):
        return _row_reader(kind, where, fail_on_missing, ignore_errors)
    element = element_type(kind)
    if element is not None:
        read = json_reader(element, where, fail_on_missing=fail_on_missing, ignore_errors=ignore_errors)
        return lambda value: [None if item is None else read(item) for item in _expect(value, list)]
    if isinstance(kind, MapTypeInfo):
        read_key, read_item = (json_reader(k, where, fail_on_missing=fail_on_missing, ignore_errors=ignore_errors) for k in kind.children())
        return lambda value: {read_key(k): None if v is None else read_item(v) for k, v in _map_items(value)}
    if isinstance(kind, TupleTypeInfo):
        readers = [json_reader(k, where, fail_on_missing=fail_on_missing, ignore_errors=ignore_errors) for k in kind.children()]
        return lambda value: tuple([r(v) if v is not None else None for r, v in zip(readers, _expect(value, list), strict=True)])
    return _plain_reader(kind, where)


def _expect(value: Any, cls: type) -> Any:
    if not isinstance(value, cls):
        raise TypeError(f"{json_text(value)} is no {'array' if cls is list else 'object'}")
    return value


def _map_items(value: Any) -> Any:
    # An array has no fields, so Flink makes an empty map of it.
    return value.items() if isinstance(value, dict) else ()


def _row_reader(kind: RowTypeInfo, where: str, fail_on_missing: bool, ignore_errors: bool) -> JsonReader:
    names = kind.get_field_names()
    readers = [
        json_reader(k, f"{where}.{n}", fail_on_missing=fail_on_missing, ignore_errors=ignore_errors)
        for n, k in zip(names, kind.get_field_types(), strict=True)
    ]
    pairs = list(zip(names, readers, strict=True))

    def read(value: Any) -> Any:
        get = _expect(value, dict).get
        values = [None if (item := get(name)) is None else reader(item) for name, reader in pairs]
        return make_row(names, values)

    def read_carefully(value: Any) -> Any:
        _expect(value, dict)
        values = []
        for name, reader in pairs:
            if name not in value and fail_on_missing and not ignore_errors:
                raise KeyError(f"Could not find field with name '{name}'")
            try:
                item = value.get(name)
                values.append(None if item is None else reader(item))
            except (ValueError, TypeError, ArithmeticError) as error:
                if not ignore_errors:
                    raise ValueError(f"field {name}: {error}") from error
                values.append(None)
        return make_row(names, values)

    def read_fast(value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, TypeError, ArithmeticError):
            return read_carefully(value)

    return read_carefully if fail_on_missing else read_fast


def _plain_reader(kind: TypeInformation, where: str) -> JsonReader:
    if isinstance(kind, BasicTypeInfo):
        basic = kind._basic_type
        if basic in INTEGERS:
            return _integer_reader(*INTEGERS[basic])
        readers: dict[BasicType, JsonReader] = {
            BasicType.STRING: _read_text,
            BasicType.CHAR: _read_text,
            BasicType.BOOLEAN: _read_boolean,
            BasicType.DOUBLE: _read_double,
            BasicType.FLOAT: lambda value: round_to_float(_read_double(value)),
            BasicType.BIG_INT: lambda value: int(_read_decimal(value)),
            BasicType.BIG_DEC: _read_decimal,
        }
        if basic in readers:
            return readers[basic]
    elif isinstance(kind, DateTypeInfo):
        return lambda value: datetime.date.fromisoformat(_read_text(value))
    elif isinstance(kind, TimeTypeInfo):
        return _read_time
    elif isinstance(kind, TimestampTypeInfo):
        return _read_timestamp
    elif isinstance(kind, LocalTimeTypeInfo):
        return _local_reader(kind)
    elif is_bytes(kind):
        return lambda value: base64_bytes(_read_text(value))
    raise ProgramError(f"{where}: a {kind} cannot be read from JSON", hint="use basic types, dates, times, lists, maps and rows")


def _local_reader(kind: LocalTimeTypeInfo) -> JsonReader:
    times = LocalTimeTypeInfo.TimeType
    if kind._time_type is times.LOCAL_DATE:
        return lambda value: datetime.date.fromisoformat(_read_text(value))
    if kind._time_type is times.LOCAL_TIME:
        return lambda value: datetime.time.fromisoformat(_read_text(value).removesuffix("Z"))
    return lambda value: datetime.datetime.fromisoformat(_read_text(value).removesuffix("Z"))


def _integer_reader(low: int, high: int) -> JsonReader:
    def read(value: Any) -> int:
        if type(value) is float:
            value = int(value)
        elif type(value) is not int:
            # bool is an int, but true is no number.
            return parse_integer(_read_text(value).strip(), low, high)
        if not low <= value <= high:
            raise ValueError(f"out of range: {value}")
        return int(value)

    return read


def _read_text(value: Any) -> str:
    return value if type(value) is str else json_text(value)


def _read_boolean(value: Any) -> bool:
    return value if type(value) is bool else _read_text(value).strip().lower() == "true"


def _read_double(value: Any) -> float:
    if type(value) is float:
        return value
    return float(value) if type(value) is int else parse_double(_read_text(value).strip())


def _read_decimal(value: Any) -> Decimal:
    try:
        # Through the text: 1.1 means 1.1 and not its binary neighbour.
        return Decimal(str(value).strip() if type(value) in (int, float) else _read_text(value).strip())
    except InvalidOperation as error:
        raise ValueError(f"no decimal number: {json_text(value)}") from error


def _read_time(value: Any) -> datetime.time:
    match = _TIME.fullmatch(_read_text(value))
    if match is None:
        raise ValueError(f"no time of the form HH:mm:ssZ: {json_text(value)}")
    return datetime.time.fromisoformat(match[1])


def _read_timestamp(value: Any) -> datetime.datetime:
    match = _TIMESTAMP.fullmatch(_read_text(value))
    if match is None:
        raise ValueError(f"no timestamp of the form yyyy-MM-ddTHH:mm:ss.fffZ: {json_text(value)}")
    return datetime.datetime.fromisoformat(f"{match[1]}.{(match[2] or '').ljust(6, '0')[:6]}")


def json_text(value: Any) -> str:
    """Return a parsed JSON value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


JsonWriter: TypeAlias = Callable[[Any], str]
_TO_ESCAPE = re.compile("[\x00-\x1f\U00010000-\U0010ffff]")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        short = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
        return short.get(code, f"\\u{code:04X}")
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"


def _write_text(value: Any) -> str:
    """Write text as Jackson does: outside the basic plane, and control characters, as escapes with capital letters."""
    text = value if type(value) is str else str(value)
    if _TO_ESCAPE.search(text) is None:
        return encode_basestring(text)
    return '"' + _TO_ESCAPE.sub(_escape, text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def json_writer(kind: TypeInformation, where: str) -> JsonWriter:
    """Return the function that writes values (not None) of a type.

    Raises:
        ProgramError: If JSON has no values of the type.
    """
    if isinstance(kind, RowTypeInfo):
        return _row_writer(kind, where)
    element = element_type(kind)
    if element is not None:
        write = json_writer(element, where)
        return lambda value: "[" + ",".join(["null" if item is None else write(item) for item in value]) + "]"
    if isinstance(kind, TupleTypeInfo):
        writers = [json_writer(k, where) for k in kind.children()]
        return lambda value: "[" + ",".join(["null" if v is None else w(v) for w, v in zip(writers, value, strict=True)]) + "]"
    if isinstance(kind, MapTypeInfo):
        write = json_writer(kind.children()[1], where)
        return lambda value: "{" + ",".join([f"{_write_text(k)}:{'null' if v is None else write(v)}" for k, v in value.items()]) + "}"
    return _plain_writer(kind, where)


def _row_writer(kind: RowTypeInfo, where: str) -> JsonWriter:
    names = kind.get_field_names()
    writers = [json_writer(k, f"{where}.{n}") for n, k in zip(names, kind.get_field_types(), strict=True)]
    template = "{" + ",".join(f"{_write_text(name).replace('%', '%%')}:%s" for name in names) + "}"

    def write(value: Any) -> str:
        values = row_values(value, names)
        return template % tuple(["null" if item is None else w(item) for w, item in zip(writers, values, strict=True)])

    return write


def _plain_writer(kind: TypeInformation, where: str) -> JsonWriter:
    if is_text(kind):
        return _write_text
    if isinstance(kind, BasicTypeInfo):
        basic = kind._basic_type
        if basic is BasicType.INSTANT:
            raise ProgramError(f"{where}: a {kind} cannot be written as JSON", hint="use SQL_TIMESTAMP or a number of milliseconds")
        plain = text_writer(kind, where)
        if basic in (BasicType.DOUBLE, BasicType.FLOAT):
            # NaN and the infinities are no JSON numbers.
            return lambda value: text if (text := plain(value))[-1].isdigit() else f'"{text}"'
        return plain
    if isinstance(kind, TimeTypeInfo):
        return lambda value: f'"{value:%H:%M:%S}Z"'
    if isinstance(kind, TimestampTypeInfo):
        return lambda value: f'"{_timestamp(value)}Z"'
    if isinstance(kind, LocalTimeTypeInfo):
        return lambda value: f'"{value.isoformat()}"'
    plain = text_writer(kind, where)
    return lambda value: f'"{plain(value)}"'


def _timestamp(value: datetime.datetime) -> str:
    text = f"{value:%Y-%m-%dT%H:%M:%S}"
    return f"{text}.{value.microsecond:06d}".rstrip("0") if value.microsecond else text


def untyped_writer() -> Callable[[Sequence[Any]], str]:
    """Return the function that writes lines of any JSON-able values: dicts, lists, strings, numbers; rows with names as objects."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_untyped).encode
    return lambda values: "".join([f"{encode(value)}\n" for value in values])


def _untyped(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict() if value._names is not None else list(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"a {type(value).__name__} has no JSON")
