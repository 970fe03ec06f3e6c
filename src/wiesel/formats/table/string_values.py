"""Internal. Values of columns from strings and to strings, by data type, as Flink's CSV and JSON formats have them."""

from __future__ import annotations

import base64
import datetime
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from wiesel.core.durations import Instant
from wiesel.core.errors import ProgramError
from wiesel.formats.java_text import parse_double
from wiesel.types import logical as t
from wiesel.types.java_strings import double_to_string, float_to_string

__all__ = ["TextReader", "TextWriter", "decimal_of", "text_reader", "text_writer"]

TextReader = Callable[[str], Any]
"""Turns a text into a value; raises ``ValueError`` if it is none."""

TextWriter = Callable[[Any], str]

_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")
_TIMESTAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)([ T])(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z?)")
_RANGES: dict[type[t.DataType], int] = {t.TinyIntType: 7, t.SmallIntType: 15, t.IntType: 31, t.BigIntType: 63}
_UTC = datetime.timezone.utc


def _integer(bits: int) -> TextReader:
    def read(text: str) -> int:
        try:
            value = int(text.strip())
        except ValueError:
            raise ValueError(f"{text!r} is no whole number") from None
        if "_" in text:  # Python takes 1_000, Java does not
            raise ValueError(f"{text!r} is no whole number")
        if not -(2**bits) <= value < 2**bits:
            raise ValueError(f"{text} is out of range")
        return value

    return read


def decimal_of(of: Any) -> Callable[[Decimal], Decimal | None]:
    """Return what rounds numbers for a column; None where they have too many digits."""
    step, most = Decimal(1).scaleb(-of.scale), Decimal(10) ** (of.precision - of.scale)

    def fit(value: Decimal) -> Decimal | None:
        rounded = value.quantize(step, ROUND_HALF_UP)
        return rounded if abs(rounded) < most else None

    return fit


def _decimal(of: Any, iso: bool) -> TextReader:
    fit = decimal_of(of)

    def read(text: str) -> Decimal | None:
        try:
            return fit(Decimal(text.strip()))
        except InvalidOperation:
            raise ValueError(f"{text!r} is no number") from None

    return read


def _read_time(text: str) -> datetime.time:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no time")
    return datetime.time(int(match[1]), int(match[2]), int(match[3] or 0), int((match[4] or "").ljust(6, "0")[:6]))


def _timestamp_parts(text: str, iso: bool, *, zoned: bool) -> tuple[datetime.datetime, int]:
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None or (match[4] == "T") != iso or bool(match[9]) != zoned:
        form = "1970-01-01T00:00:00" if iso else "1970-01-01 00:00:00"
        raise ValueError(f"{text!r} is no timestamp such as '{form}{'Z' if zoned else ''}'")
    seconds = datetime.datetime(*(int(match[index] or 0) for index in (1, 2, 3, 5, 6, 7)))  # type: ignore[arg-type]
    return seconds, int((match[8] or "").ljust(9, "0"))


def _timestamp(of: Any, iso: bool) -> TextReader:
    def read(text: str) -> datetime.datetime:
        seconds, nanos = _timestamp_parts(text, iso, zoned=False)
        return seconds.replace(microsecond=nanos // 1000)

    return read


def _zoned(of: Any, iso: bool) -> TextReader:
    def read(text: str) -> Instant:
        seconds, nanos = _timestamp_parts(text, iso, zoned=True)
        return Instant(int(seconds.replace(tzinfo=_UTC).timestamp()), nanos)

    return read


_READERS: dict[type[t.DataType], Callable[[Any, bool], TextReader]] = {
    t.CharType: lambda of, iso: str,
    t.VarCharType: lambda of, iso: str,
    t.BooleanType: lambda of, iso: lambda text: text.strip().lower() == "true",
    **{kind: lambda of, iso, bits=bits: _integer(bits) for kind, bits in _RANGES.items()},  # type: ignore[misc]
    t.FloatType: lambda of, iso: parse_double,
    t.DoubleType: lambda of, iso: parse_double,
    t.DecimalType: _decimal,
    t.BinaryType: lambda of, iso: base64.b64decode,
    t.VarBinaryType: lambda of, iso: base64.b64decode,
    t.DateType: lambda of, iso: lambda text: datetime.date.fromisoformat(text.strip()),
    t.TimeType: lambda of, iso: _read_time,
    t.TimestampType: _timestamp,
    t.LocalZonedTimestampType: _zoned,
}


def text_reader(data_type: t.DataType, *, iso: bool = False) -> TextReader:
    """Return what reads a value of one text; ``iso``: a ``T`` stands between date and time.

    Raises:
        ProgramError: If values of the type have no such text.
    """
    make = _READERS.get(type(data_type))
    if make is None:
        raise ProgramError(
            f"values of type {data_type.as_summary_string()} have no text in this format", hint="give the column another type"
        )
    return make(data_type, iso)


def _fraction(nanos: int) -> str:
    return f".{nanos:09d}".rstrip("0") if nanos else ""


def _write_time(value: datetime.time) -> str:
    return f"{value:%H:%M:%S}" + _fraction(value.microsecond * 1000)


def _write_timestamp(of: Any, iso: bool) -> TextWriter:
    between = "T" if iso else " "
    return lambda value: f"{value.year:04d}-{value:%m-%d}{between}{value:%H:%M:%S}" + _fraction(value.microsecond * 1000)


def _write_zoned(of: Any, iso: bool) -> TextWriter:
    between = "T" if iso else " "
    epoch = datetime.datetime(1970, 1, 1)

    def write(value: Instant) -> str:
        at = epoch + datetime.timedelta(seconds=value.seconds)
        return f"{at.year:04d}-{at:%m-%d}{between}{at:%H:%M:%S}" + _fraction(value.nanos) + "Z"

    return write


_WRITERS: dict[type[t.DataType], Callable[[Any, bool], TextWriter]] = {
    t.BooleanType: lambda of, iso: lambda value: "true" if value else "false",
    t.FloatType: lambda of, iso: float_to_string,
    t.DoubleType: lambda of, iso: double_to_string,
    t.DecimalType: lambda of, iso: lambda value: f"{value:f}",
    t.BinaryType: lambda of, iso: lambda value: base64.b64encode(value).decode(),
    t.VarBinaryType: lambda of, iso: lambda value: base64.b64encode(value).decode(),
    t.DateType: lambda of, iso: lambda value: value.isoformat(),
    t.TimeType: lambda of, iso: _write_time,
    t.TimestampType: _write_timestamp,
    t.LocalZonedTimestampType: _write_zoned,
}


def text_writer(data_type: t.DataType, *, iso: bool = False) -> TextWriter:
    """Return what writes a value that is not null as one text.

    Raises:
        ProgramError: If values of the type have no such text.
    """
    make = _WRITERS.get(type(data_type))
    if make is not None:
        return make(data_type, iso)
    text_reader(data_type)
    return str
