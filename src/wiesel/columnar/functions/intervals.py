"""Internal. Interval arithmetic: calendar months and milliseconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call, Expression
from wiesel.columnar.functions.kernels import by_arrays, by_kernel, from_numbers, numbers, valid_mask
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.signatures import nullable_if_any
from wiesel.columnar.type_rules import is_interval
from wiesel.types import logical as t
from wiesel.types import logical_intervals as i

__all__ = ["DAY_MS", "DAY_TIME", "UNIT_MONTHS", "UNIT_MS", "YEAR_MONTH", "add_months", "evaluate", "is_about_time", "resolve"]

DAY_MS = 86_400_000
DAY_TIME = i.DayTimeIntervalType(i.DayTimeIntervalType.DayTimeResolution.SECOND, fractional_precision=3)
YEAR_MONTH = i.YearMonthIntervalType(i.YearMonthIntervalType.YearMonthResolution.MONTH)
"""All intervals of queries have one of these two types, as in Flink."""

UNIT_MS = {"MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": DAY_MS, "WEEK": 7 * DAY_MS}
UNIT_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12000}

_TIMES = (t.DateType, t.TimeType, t.TimestampType, t.LocalZonedTimestampType)


def resolve(arguments: Arguments) -> Signature | None:
    """Return the signature of arithmetic with times and intervals; None if it is not that."""
    left, right = arguments.types
    if is_interval(left) and is_interval(right) and arguments.name in ("+", "-"):
        if type(left) is not type(right):
            return None
        return Signature([left, right], nullable_if_any(left, arguments))
    if is_interval(left) and isinstance(right, t.NumericType) and arguments.name in ("*", "/"):
        wanted = t.DoubleType() if isinstance(right, t.FractionalType) else t.BigIntType()
        return Signature([left, wanted], nullable_if_any(left, arguments))
    if isinstance(left, t.NumericType) and is_interval(right) and arguments.name == "*":
        return Signature([t.BigIntType(), right], nullable_if_any(right, arguments))
    if isinstance(left, _TIMES) and is_interval(right) and arguments.name in ("+", "-"):
        return Signature([left, right], nullable_if_any(left, arguments))
    if is_interval(left) and isinstance(right, _TIMES) and arguments.name == "+":
        return Signature([left, right], nullable_if_any(right, arguments))
    return None


def is_about_time(call: Call) -> bool:
    """Return whether a sum or product involves intervals."""
    return is_interval(call.data_type) or isinstance(call.data_type, _TIMES)


def evaluate(call: Call, frame: Any, operands: list[Any]) -> Any:
    """Compute arithmetic with intervals."""
    if is_interval(call.data_type):
        compute = {"+": pc.add, "-": pc.subtract, "*": pc.multiply, "/": pc.divide}[call.function]
        return pc.cast(compute(*operands), arrow_type(call.data_type), safe=False)
    time, interval = operands if is_interval(call.operands[1].data_type) else operands[::-1]
    by = call.operands[1] if is_interval(call.operands[1].data_type) else call.operands[0]
    return _added(call, frame, [time, pc.negate(interval) if call.function == "-" else interval], by)


def _added(call: Call, frame: Any, operands: list[Any], by: Expression) -> Any:
    time, interval = operands
    if isinstance(by.data_type, i.YearMonthIntervalType):
        return add_months(call, frame, [time, interval])
    if pa.types.is_timestamp(time.type):
        unit = time.type.unit
        # For a single value a cast takes longer than creating the other value.
        one = isinstance(interval, pa.Scalar)
        distance = pa.scalar(interval.as_py(), pa.duration("ms")) if one else interval.cast(pa.int64()).view(pa.duration("ms"))
        return pc.add(time, distance if unit == "ms" else distance.cast(pa.duration(unit)))
    return _add_to_days_or_times(call, frame, [time, interval])


def _of_days_or_times(call: Call, frame: Any, time: Any, interval: Any) -> Any:
    valid, added = valid_mask(time, interval), numbers(interval).astype(np.int64)
    values = numbers(time.cast(pa.int32())).astype(np.int64)
    # Fractions of a day are discarded, as in Flink; times of day wrap around.
    values = values + added // DAY_MS if pa.types.is_date32(time.type) else (values + added) % DAY_MS
    return from_numbers(values.astype(np.int32), valid, pa.int32()).cast(time.type)


_add_to_days_or_times = by_arrays(_of_days_or_times)


def month_numbers(days: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the month of each day, counted from 1970 on, and the day in it from 0 on."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    return months.astype(np.int64), (dates - months.astype("datetime64[D]")).astype(np.int64)


def _plus_months(call: Call, frame: Any, time: Any, interval: Any) -> Any:
    valid = valid_mask(time, interval)
    of = time.type
    per_day = 1 if pa.types.is_date32(of) else {"s": 86400, "ms": DAY_MS, "us": DAY_MS * 1000, "ns": DAY_MS * 1_000_000}[of.unit]
    values = numbers(time.cast(pa.int32() if per_day == 1 else pa.int64())).astype(np.int64)
    days, rest = np.divmod(values, per_day)
    moved = _moved_by_months(days, numbers(interval).astype(np.int64)) * per_day + rest
    return from_numbers(moved, valid, pa.int64()).cast(pa.int32() if per_day == 1 else pa.int64()).cast(of)


add_months = by_arrays(_plus_months)
"""Add months to dates or timestamps: the same day of the month, or its last one."""


def _resolve_add(arguments: Arguments) -> Signature:
    if len(arguments.types) != 2 or not isinstance(arguments.types[0], t.IntegralType) or not isinstance(arguments.types[1], _TIMES):
        raise arguments.refuse("TIMESTAMPADD(<UNIT>, <INTEGER>, <DATETIME>)")
    time = arguments.types[1]
    finer = isinstance(time, t.DateType) and arguments.options[0] in ("HOUR", "MINUTE", "SECOND", "MILLISECOND")
    result: t.DataType = t.TimestampType(6) if finer else time
    return Signature([t.BigIntType(), result], nullable_if_any(result, arguments))


def _add_units(call: Call, frame: Any, operands: list[Any]) -> Any:
    (unit,) = call.options
    count, time = operands
    if unit in UNIT_MONTHS:
        return add_months(call, frame, [time, pc.multiply(count, pa.scalar(UNIT_MONTHS[unit], pa.int64()))])
    interval = pc.multiply(count, pa.scalar(UNIT_MS[unit], pa.int64()))
    return _added(call, frame, [time, interval], Expression(DAY_TIME))


register(ScalarFunction("TIMESTAMPADD", _resolve_add, _add_units))


def _resolve_difference(arguments: Arguments) -> Signature:
    types = arguments.types
    zoned = [isinstance(of, t.LocalZonedTimestampType) for of in types]
    if len(types) != 2 or not all(isinstance(of, _TIMES) for of in types) or zoned[0] != zoned[1]:
        raise arguments.refuse("TIMESTAMPDIFF(<UNIT>, <DATETIME>, <DATETIME>), both with a zone or none")
    return Signature(types, nullable_if_any(t.IntType(), arguments))


def _milliseconds(column: Any) -> npt.NDArray[np.int64]:
    if pa.types.is_timestamp(column.type):
        per = {"s": 1000, "ms": 1, "us": -1000, "ns": -1_000_000}[column.type.unit]
        values = numbers(column.cast(pa.int64()))
        return values * per if per > 0 else values // -per
    values = numbers(column.cast(pa.int32())).astype(np.int64)
    return values * DAY_MS if pa.types.is_date32(column.type) else values


def _units_between(call: Call, frame: Any, start: Any, end: Any) -> Any:
    (unit,) = call.options
    valid, first, last = valid_mask(start, end), _milliseconds(start), _milliseconds(end)
    if unit in UNIT_MONTHS:
        whole = _months_between(first, last)
        count = np.sign(whole) * (np.abs(whole) // UNIT_MONTHS[unit])
    else:
        difference = last - first
        count = np.sign(difference) * (np.abs(difference) // UNIT_MS[unit])
    return from_numbers(count.astype(np.int32), valid, pa.int32())


def _months_between(first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the whole months between dates; one less if the last is a whole month off, but earlier in the day (as in Flink)."""
    (from_days, from_rest), (to_days, to_rest) = np.divmod(first, DAY_MS), np.divmod(last, DAY_MS)
    back = to_days < from_days
    months = _months_between_days(np.where(back, to_days, from_days), np.where(back, from_days, to_days))
    months = np.where(back, -months, months)
    return months - ((_moved_by_months(from_days, months) == to_days) & (to_rest < from_rest))  # type: ignore[no-any-return]


def _months_between_days(early: npt.NDArray[np.int64], late: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    months = month_numbers(late)[0] - month_numbers(early)[0]
    return months - (_moved_by_months(early, months) > late)


def _moved_by_months(days: npt.NDArray[np.int64], by: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    months, day = month_numbers(days)
    months = months + by
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    last = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - 1
    return np.minimum(first + day, last)  # type: ignore[no-any-return]


register(ScalarFunction("TIMESTAMPDIFF", _resolve_difference, by_arrays(_units_between)))


def _resolve_span(arguments: Arguments) -> Signature:
    first, second = arguments.types
    if not isinstance(first, _TIMES) or type(first) is not type(second):
        raise arguments.refuse("(<DATETIME> - <DATETIME>) <UNIT>, both of one type")
    result: t.DataType = YEAR_MONTH if arguments.options[0] in UNIT_MONTHS else DAY_TIME
    return Signature([first, second], nullable_if_any(result, arguments))


def _span(call: Call, frame: Any, later: Any, earlier: Any) -> Any:
    valid, last, first = valid_mask(later, earlier), _milliseconds(later), _milliseconds(earlier)
    if call.options[0] in UNIT_MONTHS:
        return from_numbers(_months_between(first, last).astype(np.int32), valid, pa.int32())
    return from_numbers(last - first, valid, pa.int64())


register(ScalarFunction("DIFFERENCE", _resolve_span, by_arrays(_span)))


def _resolve_interval(arguments: Arguments) -> Signature:
    if len(arguments.types) != 1 or not isinstance(arguments.types[0], t.IntegralType):
        raise arguments.refuse("INTERVAL <INTEGER> <UNIT>")
    result: t.DataType = YEAR_MONTH if arguments.options[0] in UNIT_MONTHS else DAY_TIME
    return Signature([t.BigIntType()], nullable_if_any(result, arguments))


def _interval_of(call: Call, frame: Any, operands: list[Any]) -> Any:
    (unit,) = call.options
    per = UNIT_MONTHS.get(unit) or UNIT_MS[unit]
    return pc.multiply(operands[0], pa.scalar(per, pa.int64())).cast(arrow_type(call.data_type))


register(ScalarFunction("INTERVAL", _resolve_interval, _interval_of))


def _resolve_overlaps(arguments: Arguments) -> Signature:
    if len(arguments.types) != 4 or not all(isinstance(of, _TIMES) for of in arguments.types):
        raise arguments.refuse("(<DATETIME>, <DATETIME>) OVERLAPS (<DATETIME>, <DATETIME>)")
    kinds = [t.TimestampType(9) if isinstance(of, t.TimestampType) else of for of in arguments.types]
    return Signature(kinds, nullable_if_any(t.BooleanType(), arguments))


def _overlaps(start: Any, end: Any, other_start: Any, other_end: Any) -> Any:
    first, last = pc.min_element_wise(start, end, skip_nulls=False), pc.max_element_wise(start, end, skip_nulls=False)
    other_first = pc.min_element_wise(other_start, other_end, skip_nulls=False)
    other_last = pc.max_element_wise(other_start, other_end, skip_nulls=False)
    return pc.and_kleene(pc.greater_equal(last, other_first), pc.greater_equal(other_last, first))


register(ScalarFunction("OVERLAPS", _resolve_overlaps, by_kernel(_overlaps)))
