"""Internal. Parsing of strings: numbers, booleans, dates and times in the forms accepted by Flink's CAST.

A reader returns the values and a second column that is true for strings that cannot be parsed; common forms are parsed by Arrow, others one
by one.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.types import logical as t

__all__ = ["read_date", "read_strings", "read_timestamp"]

_FAST_WHOLE = r"^-?[0-9]{1,18}$"
_WHOLE = re.compile(r"([+-]?)(\d*)(?:\.\d*)?")
_FLOAT = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)")
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_TRUE = frozenset({"t", "true", "y", "yes", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "0"})
_DATE = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
_FAST_DATE = _DATE + "$"
_FAST_TIMESTAMP = _DATE + r" ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?$"
_TIMESTAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,9}))?)?")
_TIME = re.compile(r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d+))?)?)?")
_EPOCH = datetime.date(1970, 1, 1).toordinal()

Read = tuple[Any, Any]


def read_strings(strings: Any, wanted: t.DataType) -> Read:
    """Return the parsed values, and the strings that cannot be parsed."""
    strings = pc.utf8_trim_whitespace(strings)
    of = arrow_type(wanted)
    if isinstance(wanted, t.IntegralType):
        return _whole_numbers(strings, wanted, of)
    if isinstance(wanted, t.BooleanType):
        return _with_failures(strings, [None if text is None else _truth(text) for text in strings.to_pylist()], of)
    if isinstance(wanted, t.FloatType | t.DoubleType):
        return _with_failures(strings, [None if text is None else _float(text) for text in strings.to_pylist()], of)
    if isinstance(wanted, t.DecimalType):
        return _decimals(strings, wanted, of)
    if isinstance(wanted, t.DateType):
        return _fast_or_slow(strings, _FAST_DATE, lambda fast: fast.cast(of), read_date, of, pa.int32())
    if isinstance(wanted, t.TimeType):
        return _with_failures(strings, [None if text is None else _time(text) for text in strings.to_pylist()], pa.int32(), of)
    return read_timestamps(strings, wanted)


def read_timestamps(strings: Any, wanted: Any) -> Read:
    """Return timestamps without a zone, truncated to the precision of a type."""
    of = pa.timestamp(arrow_type(wanted).unit)
    cut = {"ms": 1_000_000, "us": 1000, "ns": 1}[of.unit]

    def slow(text: str) -> int | None:
        nanoseconds = read_timestamp(text)
        return None if nanoseconds is None else nanoseconds // cut

    # Arrow only accepts as many fractional digits as the type has.
    digits = min(wanted.precision, {"ms": 3, "us": 6, "ns": 9}[of.unit])

    def fast(chosen: Any) -> Any:
        return pc.utf8_slice_codeunits(chosen, 0, 19 + (digits + 1 if digits else 0)).cast(of)

    found, bad = _fast_or_slow(strings, _FAST_TIMESTAMP, fast, slow, of, pa.int64())
    step = 10 ** ({"ms": 3, "us": 6, "ns": 9}[of.unit] - digits)
    if step > 1:
        whole = found.cast(pa.int64())
        found = pc.subtract(whole, _floor_mod(whole, step)).cast(of)
    return found, bad


def _floor_mod(values: Any, step: int) -> Any:
    quotient = pc.divide(values, step)
    rest = pc.subtract(values, pc.multiply(quotient, step))
    return pc.if_else(pc.less(rest, 0), pc.add(rest, step), rest)


def _fast_or_slow(
    strings: Any, pattern: str, fast: Callable[[Any], Any], slow: Callable[[str], Any], of: pa.DataType, stored: pa.DataType
) -> Read:
    usual = pc.match_substring_regex(strings, pattern)
    found = fast(pc.if_else(usual, strings, pa.scalar(None, pa.string())))
    if not usual.false_count:
        return found, None
    unusual = pc.fill_null(pc.invert(usual), False)
    others, bad = _with_failures(strings.filter(unusual), [slow(text) for text in strings.filter(unusual).to_pylist()], stored, of)
    found = pc.replace_with_mask(found, unusual, others)
    return found, pc.and_(unusual, pc.is_null(found)) if bad is not None else None


def _with_failures(strings: Any, values: list[Any], of: pa.DataType, shown_as: pa.DataType | None = None) -> Read:
    found = pa.array(values, of)
    bad = pc.and_(pc.is_null(found), pc.is_valid(strings)) if found.null_count > strings.null_count else None
    return found if shown_as is None or shown_as == of else found.cast(shown_as), bad


def _whole_numbers(strings: Any, wanted: t.IntegralType, of: pa.DataType) -> Read:
    limit = 2 ** (wanted.bits - 1)

    def slow(text: str) -> int | None:
        found = _WHOLE.fullmatch(text)
        if not text or found is None or text in "+-" or not (found[2] or "." in text):
            return None
        number = int(found[1] + (found[2] or "0"))
        return number if -limit <= number < limit else None

    def fast(chosen: Any) -> Any:
        return chosen.cast(pa.int64())

    found, bad = _fast_or_slow(strings, _FAST_WHOLE, fast, slow, pa.int64(), pa.int64())
    if wanted.bits < 64:
        outside = pc.or_(pc.less(found, -limit), pc.greater_equal(found, limit)).fill_null(False)
        if outside.true_count:
            bad = outside if bad is None else pc.or_(bad, outside)
            found = pc.if_else(outside, pa.scalar(None, pa.int64()), found)
    return found.cast(of), bad


def _truth(text: str) -> bool | None:
    small = text.lower()
    return True if small in _TRUE else False if small in _FALSE else None


def _float(text: str) -> float | None:
    return float(text.rstrip("fFdD") if text[-1:] in "fFdD" else text) if _FLOAT.fullmatch(text) else None


def _decimals(strings: Any, wanted: t.DecimalType, of: pa.DataType) -> Read:
    unit, whole = decimal.Decimal(1).scaleb(-wanted.scale), wanted.precision - wanted.scale
    exact = decimal.Context(prec=400, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    values: list[decimal.Decimal | None] = []
    bad: list[bool] = []
    for text in strings.to_pylist():
        readable = text is not None and _DECIMAL.fullmatch(text) is not None
        number = decimal.Decimal(text) if readable else None
        fits = number is not None and (number.is_zero() or number.adjusted() < whole)
        fitting = number.quantize(unit, decimal.ROUND_HALF_UP, exact) if fits and number is not None else None
        values.append(fitting if fitting is not None and (fitting.is_zero() or fitting.adjusted() < whole) else None)
        bad.append(text is not None and values[-1] is None)
    return pa.array(values, of), pa.array(bad) if any(bad) else None


def read_date(text: str) -> int | None:
    """Return the days since 1970 of a year, a year and a month, or all three; a time after a blank is ignored."""
    parts = text.split(" ", 1)[0].split("-") if not text.startswith(" ") else text.split("-")
    numbers = [part.strip() for part in parts]
    if len(numbers) > 3 or not all(part.isascii() and part.isdigit() for part in numbers):
        return None
    year, month, day = (int(numbers[i]) if i < len(numbers) else 1 for i in range(3))
    try:
        return datetime.date(year, month, day).toordinal() - _EPOCH
    except (ValueError, OverflowError):
        return None


def _time(text: str) -> int | None:
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = (int(found[i] or 0) for i in (1, 2, 3))
    if hour > 23 or minute > 59 or second > 59:
        return None
    return (hour * 60 + minute) * 60_000 + second * 1000 + int((found[4] or "")[:3].ljust(3, "0"))


def read_timestamp(text: str) -> int | None:
    """Return the nanoseconds since 1970 of a date and, maybe, a time."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(found[i] or 0) for i in range(1, 7))
    seconds = seconds_of(year, month, day, hour, minute, second)
    return None if seconds is None else seconds * 1_000_000_000 + int((found[7] or "").ljust(9, "0"))


def seconds_of(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int | None:
    """Return the seconds since 1970; a day that the month does not have (up to 31) is its last one, as in Java."""
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 60 and 1 <= year <= 9999):
        return None
    while True:
        try:
            days = datetime.date(year, month, day).toordinal() - _EPOCH
            break
        except ValueError:
            day -= 1
    return days * 86400 + (hour * 60 + minute) * 60 + second
