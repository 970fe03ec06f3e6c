"""Internal. Extraction and rounding of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.intervals import DAY_MS, UNIT_MONTHS, UNIT_MS
from wiesel.columnar.functions.kernels import by_arrays, fail_where, from_numbers, numbers, valid_mask
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import nullable_if_any
from wiesel.columnar.type_rules import is_interval
from wiesel.types import logical as t
from wiesel.types import logical_intervals as i

__all__ = ["instants", "local"]

_DAYS = (t.DateType, t.TimestampType, t.LocalZonedTimestampType)
_CLOCKS = (t.TimeType, t.TimestampType, t.LocalZonedTimestampType)


def local(time: Any, zone: str) -> Any:
    """Convert instants to the local time of a zone; other times are returned unchanged."""
    if not pa.types.is_timestamp(time.type) or time.type.tz is None:
        return time
    if zone in ("UTC", "Z"):
        return _as_it_is(time, pa.timestamp(time.type.unit))
    return pc.local_timestamp(time.cast(pa.timestamp(time.type.unit, zone)))


def _as_it_is(time: Any, kind: pa.DataType) -> Any:
    """Return times reinterpreted in another type; Arrow's cast looks up the zone each time, which takes longer than a small batch."""
    return pa.scalar(time.value, kind) if isinstance(time, pa.Scalar) else time.view(kind)


def instants(shown: Any, zone: str) -> Any:
    """Convert local times of a zone to instants.

    An ambiguous time is the first one; a skipped one is shifted by the length of the gap, as in Java.
    """
    if zone in ("UTC", "Z"):
        return _as_it_is(shown, pa.timestamp(shown.type.unit, "UTC"))
    utc = pa.timestamp(shown.type.unit, "UTC")
    found = pc.assume_timezone(shown, zone, ambiguous="earliest", nonexistent="earliest")
    gap = pc.fill_null(pc.not_equal(pc.local_timestamp(found), shown), False)
    if not (gap.as_py() if isinstance(gap, pa.Scalar) else gap.true_count):
        return found.cast(utc)
    # In a gap the result is the last instant before it, with the offset before the gap.
    before = found.cast(utc)
    distance = pc.subtract(pc.local_timestamp(found).cast(pa.int64()), before.cast(pa.int64()))
    moved = pc.subtract(shown.cast(pa.int64()), distance).cast(utc)
    return pc.if_else(gap, moved, before)


def _part_of_second(per_second: int) -> Callable[[Any], Any]:
    def compute(time: Any) -> Any:
        return pc.divide(_nanoseconds(time), pa.scalar(1_000_000_000 // per_second, pa.int64()))

    return compute


def _nanoseconds(time: Any) -> Any:
    kept = pc.add(pc.multiply(pc.millisecond(time).cast(pa.int64()), 1_000_000), pc.multiply(pc.microsecond(time).cast(pa.int64()), 1000))
    return pc.add(kept, pc.nanosecond(time).cast(pa.int64()))


def _centuries(years: int) -> Callable[[Any], Any]:
    return lambda time: pc.divide(pc.add(pc.year(time), years - 1), years)


def _epoch(time: Any) -> Any:
    return (
        pc.floor_temporal(time.cast(pa.timestamp("s") if pa.types.is_date32(time.type) else time.type), unit="second")
        .cast(pa.timestamp("s"), safe=False)
        .cast(pa.int64())
    )


_OF_DAYS: dict[str, Callable[[Any], Any]] = {
    "YEAR": pc.year,
    "ISOYEAR": pc.iso_year,
    "QUARTER": pc.quarter,
    "MONTH": pc.month,
    "WEEK": pc.iso_week,
    "DAY": pc.day,
    "DOW": lambda time: pc.day_of_week(time, count_from_zero=False, week_start=7),
    "ISODOW": lambda time: pc.day_of_week(time, count_from_zero=False, week_start=1),
    "DOY": pc.day_of_year,
    "DECADE": lambda time: pc.divide(pc.year(time), 10),
    "CENTURY": _centuries(100),
    "MILLENNIUM": _centuries(1000),
    "EPOCH": _epoch,
}
_OF_CLOCKS: dict[str, Callable[[Any], Any]] = {
    "HOUR": pc.hour,
    "MINUTE": pc.minute,
    "SECOND": pc.second,
    "MILLISECOND": _part_of_second(1000),
    "MICROSECOND": _part_of_second(1_000_000),
    "NANOSECOND": _nanoseconds,
}
_OF_INTERVALS = {"DAY": (DAY_MS, 10**9), "HOUR": (3_600_000, 24), "MINUTE": (60_000, 60), "SECOND": (1000, 60), "MILLISECOND": (1, 1000)}


def _resolve_extract(arguments: Arguments) -> Signature:
    (unit,) = arguments.options
    if len(arguments.types) == 1:
        (of,) = arguments.types
        months = isinstance(of, i.YearMonthIntervalType) and unit in ("YEAR", "MONTH")
        of_interval = isinstance(of, i.DayTimeIntervalType) and unit in _OF_INTERVALS
        days = isinstance(of, _DAYS) and unit in _OF_DAYS
        clocks = isinstance(of, (*_CLOCKS, t.DateType)) and unit in _OF_CLOCKS
        if months or of_interval or days or clocks:
            return Signature([of], nullable_if_any(t.BigIntType(), arguments))
    raise arguments.refuse(f"EXTRACT({unit} FROM <DATETIME>), where the value has that part")


def _extract(call: Call, frame: Any, operands: list[Any]) -> Any:
    (unit,) = call.options
    (time,) = operands
    if is_interval(call.operands[0].data_type):
        return _of_interval(call, frame, [time])
    time = local(time, frame.session.time_zone)
    if unit in _OF_CLOCKS and pa.types.is_date32(time.type):
        time = time.cast(pa.timestamp("ms"))
    compute = _OF_DAYS.get(unit) or _OF_CLOCKS[unit]
    return compute(time).cast(pa.int64())


def _part_of_interval(call: Call, frame: Any, interval: Any) -> Any:
    (unit,) = call.options
    values = numbers(interval).astype(np.int64)
    if isinstance(call.operands[0].data_type, i.YearMonthIntervalType):
        years = np.sign(values) * (np.abs(values) // 12)
        found = years if unit == "YEAR" else np.fmod(values, 12)
    else:
        size, most = _OF_INTERVALS[unit]
        found = np.fmod(np.sign(values) * (np.abs(values) // size), most)
    return from_numbers(found, valid_mask(interval), pa.int64())


_of_interval = by_arrays(_part_of_interval)

register(ScalarFunction("EXTRACT", _resolve_extract, _extract))


def _resolve_rounding(arguments: Arguments) -> Signature:
    (unit,) = arguments.options
    (of,) = arguments.types
    fits = isinstance(of, _DAYS) and unit in _ROUNDED and not (isinstance(of, t.DateType) and unit not in _DAY_UNITS)
    if not fits and not (isinstance(of, t.TimeType) and unit in UNIT_MS and unit not in ("DAY", "WEEK")):
        raise arguments.refuse(f"{arguments.name.split()[0]}(<DATETIME> TO <UNIT>), where the value has that part")
    return Signature([of], nullable_if_any(of, arguments))


_DAY_UNITS = ("MILLENNIUM", "CENTURY", "DECADE", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY")
_ROUNDED = (*_DAY_UNITS, "HOUR", "MINUTE", "SECOND", "MILLISECOND")


def _rounded(up: bool) -> Callable[..., Any]:
    def compute(call: Call, frame: Any, time: Any) -> Any:
        (unit,) = call.options
        of = time.type
        valid, shown = valid_mask(time), local(time, frame.session.time_zone)
        values = numbers(shown.cast(pa.int32() if pa.types.is_date32(of) or pa.types.is_time32(of) else pa.int64())).astype(np.int64)
        moved = _moved(values, _per_millisecond(of), unit, up)
        result = from_numbers(moved, valid, pa.int64())
        if pa.types.is_timestamp(of):
            return _zoned(result.cast(pa.timestamp(of.unit)), of, frame.session.time_zone)
        if pa.types.is_time32(of):
            late = moved >= DAY_MS
            fail_where(call, [time], late if valid is None else late & valid, "the day ends before")
        return result.cast(pa.int32()).cast(of)

    return by_arrays(compute)


def _per_millisecond(of: pa.DataType) -> int | None:
    """Return the number of units of a type per millisecond; None for days."""
    if pa.types.is_date32(of):
        return None
    return {"ms": 1, "us": 1000, "ns": 1_000_000}[of.unit]


def _moved(values: Any, per_ms: int | None, unit: str, up: bool) -> Any:
    """Return times rounded down to the start of a unit or, with ``up``, to the next start unless they are at one."""
    if unit in UNIT_MONTHS:
        per_day = 1 if per_ms is None else DAY_MS * per_ms
        size = UNIT_MONTHS[unit]
        # Centuries and millennia begin with the year 1.
        shift = 1969 * 12 if size >= 1200 else 1970 * 12
        months = (values // per_day).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        first = (months + shift) // size * size - shift
        start = first.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) * per_day
        after = (first + size).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) * per_day
        # Flink considers the day alone: the first one of a unit is not rounded up, whatever its time.
        return np.where(start // per_day == values // per_day, start, after) if up else start
    if per_ms is None and unit == "DAY":
        return values + 1 if up else values
    size = (UNIT_MS[unit] // DAY_MS) if per_ms is None else UNIT_MS[unit] * per_ms
    # 1970-01-01 was a Thursday; weeks begin on Sunday.
    shift = size // 7 * 4 if unit == "WEEK" else 0
    return -(-(values + shift) // size) * size - shift if up else (values + shift) // size * size - shift


def _zoned(shown: Any, of: pa.DataType, zone: str) -> Any:
    if of.tz is None:
        return shown
    return instants(shown, zone).cast(of)


register(ScalarFunction("FLOOR TO", _resolve_rounding, _rounded(False)))
register(ScalarFunction("CEIL TO", _resolve_rounding, _rounded(True), may_fail=lambda call: isinstance(call.data_type, t.TimeType)))
