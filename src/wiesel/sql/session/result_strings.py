"""Internal. Values of columns as Flink shows them in results."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Callable
from typing import Any

from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.rows import column_values
from wiesel.core.durations import Instant
from wiesel.types import logical as t
from wiesel.types import logical_intervals as intervals
from wiesel.types.java_strings import double_to_string, float_to_string
from wiesel.types.logical_structured import StructuredType

__all__ = ["NULL", "batch_strings", "value_text"]

NULL = "<NULL>"
_MILLIS_PER_DAY = 86_400_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_Text = Callable[[Any], str]


def batch_strings(batch: RowBatch, types: list[t.DataType], time_zone: str = "UTC") -> list[tuple[str | None, ...]]:
    """Return the rows as strings, None for NULL."""
    columns = [
        [None if value is None else text(value) for value in column_values(column)]
        for column, text in zip(batch.rows.columns, (value_text(of, time_zone) for of in types), strict=True)
    ]
    return list(zip(*columns, strict=True)) if columns else [()] * len(batch)


def value_text(data_type: t.DataType, time_zone: str = "UTC") -> _Text:
    """Return what makes the text of a value of a type that is not NULL."""
    make = _TEXTS.get(type(data_type))
    return str if make is None else make(data_type, time_zone)


def _fraction(nanos: int, precision: int) -> str:
    return f".{nanos:09d}"[: precision + 1] if precision else ""


def _timestamp(precision: int) -> _Text:
    def text(value: datetime.datetime) -> str:
        return f"{value:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + _fraction(value.microsecond * 1000, precision)

    return text


def _zoned(of: Any, time_zone: str) -> _Text:
    zone = zoneinfo.ZoneInfo(time_zone)

    def text(value: Instant) -> str:
        local = (_EPOCH + datetime.timedelta(seconds=value.seconds)).astimezone(zone)
        return f"{local:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + _fraction(value.nanos, of.precision)

    return text


def _time(of: Any, time_zone: str) -> _Text:
    return lambda value: f"{value:%H:%M:%S}" + _fraction(value.microsecond * 1000, of.precision)


def _array(of: Any, time_zone: str) -> _Text:
    element = _or_null(of.element_type, time_zone)
    return lambda values: "[" + ", ".join(map(element, values)) + "]"


def _map(key: t.DataType, item: t.DataType, time_zone: str) -> _Text:
    keys, items = _or_null(key, time_zone), _or_null(item, time_zone)

    def text(entries: Any) -> str:
        pairs = entries.items() if isinstance(entries, dict) else entries  # a map that is a key of one is a tuple
        return "{" + ", ".join(f"{keys(k)}={items(v)}" for k, v in pairs) + "}"

    return text


def _row(of: Any, time_zone: str) -> _Text:
    parts = [_or_null(field.data_type, time_zone) for field in of]
    return lambda row: "(" + ", ".join(text(value) for text, value in zip(parts, row._values, strict=True)) + ")"


def _object(of: Any, time_zone: str) -> _Text:
    parts = [(field.name, _or_null(field.data_type, time_zone)) for field in of]
    return lambda row: "(" + ", ".join(f"{name}={text(value)}" for (name, text), value in zip(parts, row._values, strict=True)) + ")"


def _or_null(of: t.DataType, time_zone: str) -> _Text:
    text = value_text(of, time_zone)
    return lambda value: "NULL" if value is None else text(value)


def _day_time(value: int) -> str:
    days, millis = divmod(abs(value), _MILLIS_PER_DAY)
    seconds, millis = divmod(millis, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{'-' if value < 0 else '+'}{days} {hours:02d}:{minutes:02d}:{seconds:02d}.{millis:03d}"


def _year_month(value: int) -> str:
    years, months = divmod(abs(value), 12)
    return f"{'-' if value < 0 else '+'}{years}-{months:02d}"


def _hex(value: bytes) -> str:
    return f"x'{value.hex()}'"


_TEXTS: dict[type[t.DataType], Callable[[Any, str], _Text]] = {
    t.BooleanType: lambda of, zone: lambda value: "TRUE" if value else "FALSE",
    t.FloatType: lambda of, zone: float_to_string,
    t.DoubleType: lambda of, zone: double_to_string,
    t.DecimalType: lambda of, zone: lambda value: f"{value:f}",
    t.BinaryType: lambda of, zone: _hex,
    t.VarBinaryType: lambda of, zone: _hex,
    t.TimeType: _time,
    t.TimestampType: lambda of, zone: _timestamp(of.precision),
    t.LocalZonedTimestampType: _zoned,
    t.ArrayType: _array,
    t.MapType: lambda of, zone: _map(of.key_type, of.value_type, zone),
    t.MultisetType: lambda of, zone: _map(of.element_type, t.IntType(), zone),
    t.RowType: _row,
    StructuredType: _object,
    intervals.DayTimeIntervalType: lambda of, zone: _day_time,
    intervals.YearMonthIntervalType: lambda of, zone: _year_month,
}
