"""Internal. Numbers, dates and times as text, as Java reads and writes them; for CSV and JSON."""

from __future__ import annotations

import base64
import binascii
import datetime
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from wiesel.core.durations import Instant
from wiesel.core.errors import ProgramError
from wiesel.types.coercion import round_to_float
from wiesel.types.java_strings import double_to_string, float_to_string, to_java_string
from wiesel.types.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    LocalTimeTypeInfo,
    PrimitiveArrayTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
)

__all__ = ["INTEGERS", "base64_bytes", "is_bytes", "is_integer", "is_text", "parse_double", "parse_integer", "text_parser", "text_writer"]

INTEGERS: dict[BasicType, tuple[int, int]] = {
    BasicType.BYTE: (-(2**7), 2**7 - 1),
    BasicType.SHORT: (-(2**15), 2**15 - 1),
    BasicType.INT: (-(2**31), 2**31 - 1),
    BasicType.LONG: (-(2**63), 2**63 - 1),
}
"""Ranges of the whole numbers."""

_INTEGER = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})")
_TIMESTAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?")


def is_integer(kind: TypeInformation) -> bool:
    """Return whether values are integers of fixed size."""
    return isinstance(kind, BasicTypeInfo) and kind._basic_type in INTEGERS


def is_text(kind: TypeInformation) -> bool:
    """Return whether values are strings."""
    return isinstance(kind, BasicTypeInfo) and kind._basic_type in (BasicType.STRING, BasicType.CHAR)


def is_bytes(kind: TypeInformation) -> bool:
    """Return whether values are bytes."""
    return isinstance(kind, PrimitiveArrayTypeInfo) and kind.element_type == BasicTypeInfo(BasicType.BYTE)


def parse_integer(text: str, low: int, high: int) -> int:
    """Return the number in a text; raise ``ValueError`` for what Java does not take."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"not a whole number: {text!r}")
    value = int(text)
    if not low <= value <= high:
        raise ValueError(f"out of range: {text!r}")
    return value


def parse_double(text: str) -> float:
    """Return the number in a text; raise ``ValueError`` for what Java does not take."""
    if not _DOUBLE.fullmatch(text):
        raise ValueError(f"not a number: {text!r}")
    return float(text.rstrip("fFdD") if text[-1] in "fFdD" else text)


def _parse_decimal(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"not a decimal number: {text!r}") from error
    if not value.is_finite() or "_" in text:
        raise ValueError(f"not a decimal number: {text!r}")
    return value


def _fields(pattern: re.Pattern[str], text: str, what: str) -> list[int]:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"not a {what}: {text!r}")
    numbers = [int(group) for group in match.groups()[:6]]
    if match.re.groups == 7:
        # Nanoseconds; Python keeps microseconds.
        numbers.append(int((match[7] or "").ljust(9, "0")[:6]))
    return numbers


def _parse_date(text: str) -> datetime.date:
    return datetime.date(*_fields(_DATE, text, "date (yyyy-MM-dd)"))


def _parse_time(text: str) -> datetime.time:
    hour, minute, second = _fields(_TIME, text, "time (HH:mm:ss)")
    return datetime.time(hour, minute, second)


def _parse_timestamp(text: str) -> datetime.datetime:
    what = "timestamp (yyyy-MM-dd HH:mm:ss.fffffffff)"
    year, month, day, hour, minute, second, micros = _fields(_TIMESTAMP, text, what)
    return datetime.datetime(year, month, day, hour, minute, second, micros)


def _parse_local(kind: LocalTimeTypeInfo) -> Callable[[str], Any]:
    times = LocalTimeTypeInfo.TimeType
    if kind._time_type is times.LOCAL_DATE:
        return datetime.date.fromisoformat
    return datetime.time.fromisoformat if kind._time_type is times.LOCAL_TIME else datetime.datetime.fromisoformat


def base64_bytes(text: str) -> bytes:
    """Return the bytes of a base64 text; raise ``ValueError`` if it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {text!r}") from error


def _parse_instant(text: str) -> Instant:
    moment = datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    return Instant.of_epoch_milli(int(moment.timestamp() * 1000))


def text_parser(kind: TypeInformation, where: str) -> Callable[[str], Any]:
    """Return the function that reads one value of a plain type; spaces around it are gone already, unless it is text.

    Raises:
        ProgramError: If values of the type have no text.
    """
    if isinstance(kind, BasicTypeInfo):
        if kind._basic_type in INTEGERS:
            low, high = INTEGERS[kind._basic_type]
            return lambda text: parse_integer(text, low, high)
        parsers: dict[BasicType, Callable[[str], Any]] = {
            BasicType.STRING: str,
            BasicType.CHAR: str,
            BasicType.BOOLEAN: lambda text: text.lower() == "true",
            BasicType.DOUBLE: parse_double,
            BasicType.FLOAT: lambda text: round_to_float(parse_double(text)),
            BasicType.BIG_INT: lambda text: parse_integer(text, -(10**9999), 10**9999),
            BasicType.BIG_DEC: _parse_decimal,
            BasicType.INSTANT: _parse_instant,
        }
        return parsers[kind._basic_type]
    if isinstance(kind, DateTypeInfo):
        return _parse_date
    if isinstance(kind, TimeTypeInfo):
        return _parse_time
    if isinstance(kind, TimestampTypeInfo):
        return _parse_timestamp
    if isinstance(kind, LocalTimeTypeInfo):
        return _parse_local(kind)
    if is_bytes(kind):
        return base64_bytes
    raise ProgramError(f"{where}: a {kind} cannot be read from text", hint="use basic types, dates, times, arrays and rows")


def text_writer(kind: TypeInformation, where: str) -> Callable[[Any], str]:
    """Return the function that writes one value (not None) of a plain type.

    Raises:
        ProgramError: If values of the type have no text.
    """
    if isinstance(kind, BasicTypeInfo):
        writers: dict[BasicType, Callable[[Any], str]] = {
            BasicType.BOOLEAN: lambda value: "true" if value else "false",
            BasicType.DOUBLE: lambda value: double_to_string(float(value)),
            BasicType.FLOAT: lambda value: float_to_string(round_to_float(float(value))),
            BasicType.INSTANT: lambda value: to_java_string(value, kind),
        }
        return writers.get(kind._basic_type, str)
    if isinstance(kind, DateTypeInfo):
        return datetime.date.isoformat
    if isinstance(kind, TimeTypeInfo):
        return lambda value: f"{value:%H:%M:%S}"
    if isinstance(kind, TimestampTypeInfo):
        return _write_timestamp
    if isinstance(kind, LocalTimeTypeInfo):
        return lambda value: to_java_string(value, kind)
    if is_bytes(kind):
        return lambda value: base64.b64encode(bytes(value)).decode("ascii")
    raise ProgramError(f"{where}: a {kind} cannot be written as text", hint="use basic types, dates, times, arrays and rows")


def _write_timestamp(value: datetime.datetime) -> str:
    text = f"{value:%Y-%m-%d %H:%M:%S}"
    return f"{text}.{value.microsecond:06d}".rstrip("0") if value.microsecond else text
