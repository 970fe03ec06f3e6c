"""How Java prints the values of columns, as the goldens of expressions hold them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from wiesel.types import logical as t
from wiesel.types import logical_intervals as i
from wiesel.types.java_strings import double_to_string, float_to_string


def java_text(scalar: Any, of: t.DataType) -> str | None:
    """Return what Java says of a value; None for NULL."""
    if not scalar.is_valid:
        return None
    if isinstance(of, t.TimestampType | t.LocalZonedTimestampType):
        nanoseconds = scalar.value * {"ms": 1_000_000, "us": 1000, "ns": 1}[scalar.type.unit]
        return _timestamp(nanoseconds, of)
    if isinstance(of, t.TimeType):
        return _time_of_day(scalar.value * 1_000_000)
    if isinstance(of, t.ArrayType):
        return f"[{', '.join(_part(part, of.element_type) for part in scalar.values)}]"
    if isinstance(of, t.RowType):
        return f"+I[{', '.join(_part(scalar[place], field.data_type) for place, field in enumerate(of.fields))}]"
    if isinstance(of, t.MapType):
        # The order of entries is that of Java's hash map, which nobody may rely on.
        entries = sorted(f"{_part(entry['key'], of.key_type)}={_part(entry['value'], of.value_type)}" for entry in scalar.values)
        return f"{{{', '.join(entries)}}}"
    return _PLAIN.get(type(of), str)(scalar.as_py())


def _part(scalar: Any, of: t.DataType) -> str:
    text = java_text(scalar, of)
    return "null" if text is None else text


def in_order(text: str | None, of: t.DataType) -> str | None:
    """Return Java's text of a map with its entries in order."""
    if text is None or not isinstance(of, t.MapType):
        return text
    return f"{{{', '.join(sorted(text[1:-1].split(', ')))}}}"


def _time_of_day(nanoseconds: int) -> str:
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    shown = f"{hours:02}:{minutes:02}"
    if rest or fraction:
        shown += f":{rest:02}"
    if fraction:
        digits = f"{fraction:09}"
        shown += "." + (digits[:3] if digits.endswith("000000") else digits[:6] if digits.endswith("000") else digits)
    return shown


def _timestamp(nanoseconds: int, of: t.DataType) -> str:
    days, rest = divmod(nanoseconds, 86_400_000_000_000)
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days)
    if isinstance(of, t.LocalZonedTimestampType):
        # An Instant always tells the seconds.
        shown = _time_of_day(rest)
        return f"{day}T{shown + ':00' if len(shown) == 5 else shown}Z"
    return f"{day}T{_time_of_day(rest)}"


def _duration(milliseconds: int) -> str:
    if not milliseconds:
        return "PT0S"
    seconds, fraction = divmod(abs(milliseconds), 1000)
    sign = "-" if milliseconds < 0 else ""
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    shown = "PT" + (f"{sign}{hours}H" if hours else "") + (f"{sign}{minutes}M" if minutes else "")
    if rest or fraction:
        shown += f"{sign}{rest}" + (f".{fraction:03}".rstrip("0") if fraction else "") + "S"
    return shown


def _period(months: int) -> str:
    return f"P{months}M" if months else "P0D"


def _bytes(value: bytes) -> str:
    return f"[{', '.join(str(byte - 256 if byte > 127 else byte) for byte in value)}]"


_PLAIN: dict[type[t.DataType], Callable[[Any], str]] = {
    t.BooleanType: lambda value: "true" if value else "false",
    t.FloatType: float_to_string,
    t.DoubleType: double_to_string,
    t.BinaryType: _bytes,
    t.VarBinaryType: _bytes,
    i.DayTimeIntervalType: _duration,
    i.YearMonthIntervalType: _period,
}
