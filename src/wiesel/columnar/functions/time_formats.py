"""Internal. Formatting and parsing of times: DATE_FORMAT, TO_DATE, TO_TIMESTAMP, FROM_UNIXTIME and similar."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.kernels import by_arrays, by_value, fail_where, from_numbers, numbers, problem, valid_mask
from wiesel.columnar.functions.reading import read_date, read_timestamp, read_timestamps
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import BIGINT, INTEGER, NUMERIC, TEXT, kind_of, returning_null, taking
from wiesel.columnar.functions.time_patterns import DEFAULT, format_times, parse_leniently, parse_strictly
from wiesel.columnar.functions.times import local
from wiesel.columnar.type_rules import STRING, is_text
from wiesel.types import logical as t

__all__ = ["zone_of"]

_STAMP = kind_of("<TIMESTAMP>|<CHARACTER>", t.TimestampType, t.LocalZonedTimestampType, t.CharType, t.VarCharType)
_LEAST, _MOST = -62_135_596_800_000, 253_402_300_799_999
"""The milliseconds of the years 1 to 9999."""


def _formatted(call: Call, times: Any, pattern: Any) -> Any:
    """Format by one pattern or, if it is a column, row by row."""
    try:
        if isinstance(pattern, pa.Scalar):
            return format_times(times, pattern.as_py()) if pattern.is_valid else pa.nulls(len(times), pa.string())
        rows = enumerate(pattern.to_pylist())
        return pa.array([None if one is None else format_times(times.slice(place, 1), one)[0].as_py() for place, one in rows], pa.string())
    except ValueError as error:
        raise problem(call, (), str(error)) from error


def _format(call: Call, frame: Any, operands: list[Any]) -> Any:
    time, pattern = operands
    single = isinstance(time, pa.Scalar) and isinstance(pattern, pa.Scalar)
    if isinstance(time, pa.Scalar):
        time = pa.repeat(time, 1 if single else frame.num_rows)
    if is_text(call.operands[0].data_type):
        time = _stamps(time)
    found = _formatted(call, local(time, frame.session.time_zone), pattern)
    return found[0] if single else found


def _stamps(strings: Any) -> Any:
    values = [None if text is None else parse_leniently(text, DEFAULT) for text in strings.to_pylist()]
    return pa.array(values, pa.int64()).cast(pa.timestamp("ms"))


register(ScalarFunction("DATE_FORMAT", taking(returning_null(STRING), _STAMP, TEXT), _format, may_fail=True))


def _unix_time(call: Call, frame: Any, seconds: Any, pattern: Any = None) -> Any:
    with np.errstate(all="ignore"):
        milliseconds = numbers(seconds) * 1000
    # Distant times wrap around, as in Java; beyond the year 9999 they are formatted as in Java, with more digits.
    times = from_numbers(milliseconds, valid_mask(seconds), pa.int64()).cast(pa.timestamp("ms", "UTC"))
    shown = local(times, frame.session.time_zone)
    return _formatted(call, shown, pa.scalar(DEFAULT) if pattern is None else _constant(pattern))


def _constant(pattern: Any) -> Any:
    return pattern[0] if len(pattern) and len(pattern.unique()) == 1 else pattern


register(ScalarFunction("FROM_UNIXTIME", taking(returning_null(STRING), BIGINT, TEXT, optional=1), by_arrays(_unix_time), may_fail=True))


# Reading


def _to_date(text: str, pattern: str | None = None) -> int | None:
    if pattern is None:
        return read_date(text)
    milliseconds = parse_leniently(text, pattern)
    return None if milliseconds is None else milliseconds // 86_400_000


def _dates(call: Call, frame: Any, operands: list[Any]) -> Any:
    if len(operands) == 1 and not isinstance(operands[0], pa.Scalar):
        strings = operands[0]
        usual = pc.match_substring_regex(strings, r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$")
        if not usual.false_count:
            return strings.cast(pa.date32())
    found = by_value(_to_date)(_as(call, t.IntType()), frame, operands)
    return found.cast(pa.date32())


def _as(call: Call, of: t.DataType) -> Call:
    """Return a call whose values are stored as numbers first."""
    return Call(of, call.function, call.operands, call.options)


register(ScalarFunction("TO_DATE", taking(returning_null(t.DateType()), TEXT, TEXT, optional=1), _dates, may_fail=True))


def _milliseconds(text: str, pattern: str | None = None) -> int | None:
    nanoseconds = read_timestamp(text) if pattern is None else parse_strictly(text, pattern)
    return None if nanoseconds is None else nanoseconds // 1_000_000


def _timestamps(call: Call, frame: Any, operands: list[Any]) -> Any:
    if len(operands) == 1 and not isinstance(operands[0], pa.Scalar):
        return read_timestamps(operands[0], t.TimestampType(3))[0]
    return by_value(_milliseconds)(_as(call, t.BigIntType()), frame, operands).cast(pa.timestamp("ms"))


register(ScalarFunction("TO_TIMESTAMP", taking(returning_null(t.TimestampType(3)), TEXT, TEXT, optional=1), _timestamps, may_fail=True))


def zone_of(name: str) -> datetime.tzinfo:
    """Return a zone by its name, UTC for names that Java does not know."""
    try:
        return _knownzone_of(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        # As Java's TimeZone does for names that it does not know.
        return datetime.timezone.utc


@lru_cache(maxsize=64)
def _knownzone_of(name: str) -> datetime.tzinfo:
    return datetime.timezone.utc if name in ("UTC", "Z", "GMT") else zoneinfo.ZoneInfo(_SHORT_NAMES.get(name, name))


_SHORT_NAMES = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""Java's three-letter zone ids missing in the zone database."""


_BEGIN = datetime.datetime(1970, 1, 1)


def _at(milliseconds: int, zone: str) -> int:
    """Return the milliseconds since 1970 in UTC of a local time; an ambiguous or skipped time is in standard time, as in Java."""
    shown = (_BEGIN + datetime.timedelta(milliseconds=milliseconds)).replace(tzinfo=zone_of(zone))
    offset = min(shown.replace(fold=fold).utcoffset() or datetime.timedelta() for fold in (0, 1))
    return milliseconds - round(offset.total_seconds() * 1000)


def _unix_timestamp(zone: str) -> Callable[..., int]:
    def compute(text: str, pattern: str = DEFAULT) -> int:
        milliseconds = parse_leniently(text, pattern)
        # Flink's value for a string that is no time.
        return -(2**63) if milliseconds is None else _at(milliseconds, zone) // 1000

    return compute


def _unix_timestamps(call: Call, frame: Any, operands: list[Any]) -> Any:
    if not operands:
        return pa.scalar(int(frame.session.clock.now_ms()) // 1000, pa.int64())
    return by_value(_unix_timestamp(frame.session.time_zone))(call, frame, operands)


register(
    ScalarFunction("UNIX_TIMESTAMP", taking(t.BigIntType(), TEXT, TEXT, optional=2), _unix_timestamps, may_fail=True, deterministic=False)
)


def _converted(text: str, source: str, target: str) -> str | None:
    milliseconds = parse_leniently(text, DEFAULT)
    if milliseconds is None:
        return None
    moment = (_BEGIN + datetime.timedelta(milliseconds=_at(milliseconds, source))).replace(tzinfo=datetime.timezone.utc)
    return moment.astimezone(zone_of(target)).strftime("%Y-%m-%d %H:%M:%S")


register(ScalarFunction("CONVERT_TZ", taking(returning_null(STRING), TEXT, TEXT, TEXT), by_value(_converted)))


# Points of time


def _resolve_zoned(arguments: Arguments) -> Signature:
    result = t.LocalZonedTimestampType(3)
    if arguments.types and is_text(arguments.types[0]):
        return taking(returning_null(result), TEXT, TEXT, TEXT, optional=2)(arguments)
    if arguments.literal(1) not in (None, 0, 3):
        raise arguments.refuse("TO_TIMESTAMP_LTZ(<NUMERIC>, 0|3), or TO_TIMESTAMP_LTZ(<CHARACTER>, ...)")
    return taking(returning_null(result), NUMERIC, INTEGER, optional=1)(arguments)


def _zoned(call: Call, frame: Any, *columns: Any) -> Any:
    if is_text(call.operands[0].data_type):
        return _zoned_of_strings(call, *columns)
    value = columns[0]
    valid = valid_mask(*columns)
    if pa.types.is_decimal(value.type):
        value = value.cast(pa.float64())
    precision = numbers(columns[1]) if len(columns) > 1 else np.full(len(value), 3)
    wrong = (precision != 0) & (precision != 3)
    fail_where(call, list(columns), wrong if valid is None else wrong & valid, "the precision is 0 or 3")
    scale = np.where(precision == 0, 1000, 1)
    found = numbers(value)
    with np.errstate(all="ignore"):
        inside = (found >= _LEAST // scale) & (found <= _MOST // scale)
        milliseconds = np.trunc(np.where(inside, found, 0)).astype(np.int64) * scale
    return from_numbers(milliseconds, inside if valid is None else inside & valid, pa.int64()).cast(pa.timestamp("ms", "UTC"))


def _zoned_of_strings(call: Call, strings: Any, patterns: Any = None, zones: Any = None) -> Any:
    rows = zip(*(column.to_pylist() for column in (strings, patterns, zones) if column is not None), strict=True)
    found = [None if None in row else _instant(call, *row) for row in rows]
    return pa.array(found, pa.int64()).cast(pa.timestamp("ms", "UTC"))


def _instant(call: Call, text: str, pattern: str | None = None, zone: str = "UTC") -> int:
    milliseconds = _milliseconds(text, pattern)
    if milliseconds is None:
        raise problem(call, (text, pattern, zone), "the string does not match the pattern")
    return _at(milliseconds, zone)


register(ScalarFunction("TO_TIMESTAMP_LTZ", _resolve_zoned, by_arrays(_zoned), may_fail=True))
