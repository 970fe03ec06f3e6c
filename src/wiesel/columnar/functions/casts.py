"""Internal. CAST and TRY_CAST: the supported casts and their implementation."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions import decimals, reading, string_casts
from wiesel.columnar.functions.kernels import by_arrays, fail_where, from_numbers, numbers, valid_mask
from wiesel.columnar.functions.registry import Arguments, ScalarFunction, Signature, register
from wiesel.columnar.functions.times import instants, local
from wiesel.columnar.type_rules import is_approximate, is_binary, is_interval, is_text
from wiesel.core.errors import ExpressionError, ProgramError
from wiesel.types import logical as t
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_variant import VariantType

__all__: list[str] = []

_STAMPS = (t.TimestampType, t.LocalZonedTimestampType)
_TIMES = (t.DateType, t.TimeType, *_STAMPS)
_DAY_MS = 86_400_000


def castable(source: t.DataType, wanted: t.DataType) -> bool:
    """Return whether values of a type can be cast to another."""
    if isinstance(source, t.NullType) or source.nullable() == wanted.nullable():
        return True
    if is_text(wanted):
        return not isinstance(source, VariantType)
    if isinstance(source, t.ArrayType) and isinstance(wanted, t.ArrayType):
        return castable(source.element_type, wanted.element_type)
    if isinstance(source, t.MapType) and isinstance(wanted, t.MapType):
        return castable(source.key_type, wanted.key_type) and castable(source.value_type, wanted.value_type)
    if isinstance(source, t.RowType) and isinstance(wanted, t.RowType) and len(source.fields) == len(wanted.fields):
        return all(castable(a.data_type, b.data_type) for a, b in zip(source.fields, wanted.fields, strict=True))
    return _of_scalars(source, wanted)


def _of_scalars(source: t.DataType, wanted: t.DataType) -> bool:
    if is_text(source):
        return isinstance(wanted, (t.NumericType, t.BooleanType, *_TIMES)) or is_binary(wanted)
    if isinstance(source, t.NumericType | t.BooleanType) and isinstance(wanted, t.NumericType | t.BooleanType):
        return True
    if isinstance(source, _STAMPS):
        return isinstance(wanted, _TIMES)
    if isinstance(source, t.DateType | t.TimeType):
        return isinstance(wanted, _STAMPS)
    if is_interval(source):
        return type(source) is type(wanted)
    return is_binary(wanted) and (is_binary(source) or isinstance(source, RawType))


def _resolve(arguments: Arguments) -> Signature:
    (wanted,) = arguments.options
    source = arguments.types[0]
    # As in Flink, not even to VARIANT itself.
    if isinstance(source, VariantType) or not castable(source, wanted):
        if isinstance(source, RawType):
            raise ProgramError(
                f"RAW values, objects of Python, cannot be cast to {wanted.as_summary_string()}",
                hint="declare the type of the records where the stream is made, such as Types.INT(), or let a function (udf) return it",
            )
        raise arguments.refuse(f"a cast to {wanted.as_summary_string()} is not supported")
    nullable = source.is_nullable or arguments.name == "TRY_CAST"
    return Signature([source], wanted.nullable() if nullable else wanted.not_null())


def _cast(call: Call, frame: Any, column: Any) -> Any:
    return converted(call, frame, column, call.operands[0].data_type, call.data_type)


def converted(call: Call, frame: Any, column: Any, source: t.DataType, wanted: t.DataType) -> Any:
    """Return a column, or the parts of one, as another type."""
    of = arrow_type(wanted)
    if isinstance(source, t.NullType):
        return pa.nulls(len(column), of)
    if source.nullable() == wanted.nullable():
        return column if column.type == of else column.cast(of)
    if is_text(wanted):
        return string_casts.fitted_text(string_casts.as_strings(column, source, frame.session.time_zone), wanted)
    if isinstance(wanted, t.ArrayType | t.MapType | t.RowType):
        return _nested(call, frame, column, source, wanted)
    if is_text(source) and not is_binary(wanted):
        return _read(call, frame, column, wanted)
    if is_binary(wanted):
        return _fitted_bytes(column.cast(pa.binary()), wanted)
    if isinstance(source, _TIMES):
        return _time(frame, column, source, wanted)
    return _number(column, source, wanted, of)


def _read(call: Call, frame: Any, column: Any, wanted: t.DataType) -> Any:
    found, bad = reading.read_strings(column, wanted)
    if bad is not None and call.function == "CAST":
        why = f"a string is not a valid {wanted.nullable().as_summary_string()}"
        fail_where(call, [column], bad.to_numpy(zero_copy_only=False), why)
    if isinstance(wanted, t.LocalZonedTimestampType):
        return instants(found, frame.session.time_zone).cast(arrow_type(wanted))
    return found


def fitted(column: Any, wanted: t.DataType) -> Any:
    """Return strings or bytes with the length of a type: truncated, and padded for CHAR and BINARY."""
    return string_casts.fitted_text(column, wanted) if is_text(wanted) else _fitted_bytes(column, wanted)


def _fitted_bytes(column: Any, wanted: t.DataType) -> Any:
    length = wanted.length  # type: ignore[attr-defined]
    if length == t.MAX_LENGTH:
        return column
    cut = pc.binary_slice(column, 0, length)
    if not isinstance(wanted, t.BinaryType):
        return cut
    return pa.array([None if value is None else value.ljust(length, b"\0") for value in cut.to_pylist()], pa.binary())


def _time(frame: Any, column: Any, source: t.DataType, wanted: t.DataType) -> Any:
    zone = frame.session.time_zone
    of = arrow_type(wanted)
    shown = local(column, zone)
    if isinstance(wanted, t.DateType):
        return pc.floor_temporal(shown, unit="day").cast(pa.date32())
    if isinstance(wanted, t.TimeType):
        return _time_of_day(shown, wanted)
    if isinstance(source, t.TimeType):
        # The day is the first of 1970.
        shown = column.cast(pa.int32()).cast(pa.int64()).cast(pa.timestamp("ms"))
    naive = _cut(shown, of.unit, wanted.precision)  # type: ignore[attr-defined]
    if isinstance(wanted, t.LocalZonedTimestampType):
        return instants(naive, zone).cast(of)
    return naive


def _time_of_day(shown: Any, wanted: t.TimeType) -> Any:
    values = numbers(shown.cast(pa.timestamp("ns"), safe=False).cast(pa.int64())) // 1_000_000 % _DAY_MS
    step = 10 ** max(0, 3 - wanted.precision)
    return from_numbers((values // step * step).astype(np.int32), valid_mask(shown), pa.int32()).cast(pa.time32("ms"))


def _cut(shown: Any, unit: str, precision: int) -> Any:
    """Return timestamps in a unit, truncated to a number of fractional digits."""
    digits = {"ms": 3, "us": 6, "ns": 9}
    if pa.types.is_date32(shown.type):
        return shown.cast(pa.timestamp(unit))
    step = 10 ** (digits[shown.type.unit] - min(precision, digits[shown.type.unit]))
    if step > 1:
        values = numbers(shown.cast(pa.int64()))
        shown = from_numbers(values // step * step, valid_mask(shown), pa.int64()).cast(shown.type)
    return shown.cast(pa.timestamp(unit))


def _nested(call: Call, frame: Any, column: Any, source: Any, wanted: Any) -> Any:
    if isinstance(wanted, t.ArrayType):
        values = converted(call, frame, column.flatten(), source.element_type, wanted.element_type)
        offsets = _offsets(column)
        return pa.ListArray.from_arrays(offsets, values, mask=column.is_null() if column.null_count else None)
    if isinstance(wanted, t.MapType):
        keys = converted(call, frame, _map_part(column, "keys"), source.key_type, wanted.key_type)
        items = converted(call, frame, _map_part(column, "items"), source.value_type, wanted.value_type)
        return pa.MapArray.from_arrays(_offsets(column), keys, items, mask=column.is_null() if column.null_count else None)
    parts = [
        converted(call, frame, part, a.data_type, b.data_type)
        for part, a, b in zip(column.flatten(), source.fields, wanted.fields, strict=True)
    ]
    mask = column.is_null() if column.null_count else None
    return pa.StructArray.from_arrays(parts, fields=list(arrow_type(wanted)), mask=mask)


def _offsets(column: Any) -> Any:
    """Return the offsets of each row's elements among those of all rows; NULL has none."""
    if isinstance(column, pa.MapArray):
        lengths = np.diff(column.offsets.to_numpy())
        lengths = np.where(column.is_null().to_numpy(zero_copy_only=False), 0, lengths)
    else:
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))


def _map_part(column: Any, which: str) -> Any:
    if not column.null_count and not column.offset:
        starts = column.offsets
        return getattr(column, which).slice(starts[0].as_py(), starts[-1].as_py() - starts[0].as_py())
    place = 0 if which == "keys" else 1
    of = column.type.key_type if which == "keys" else column.type.item_type
    return pa.array([entry[place] for entries in column.to_pylist() if entries is not None for entry in entries], of)


def _number(column: Any, source: t.DataType, wanted: t.DataType, of: pa.DataType) -> Any:
    if isinstance(source, t.BooleanType):
        as_number = column.cast(pa.int8())
        return decimals.fitted(as_number.cast(pa.decimal128(3, 0)), of) if isinstance(wanted, t.DecimalType) else as_number.cast(of)
    if isinstance(wanted, t.BooleanType):
        zero = decimal.Decimal(0) if isinstance(source, t.DecimalType) else 0
        return pc.not_equal(column, pa.scalar(zero).cast(column.type))
    if isinstance(wanted, t.DecimalType):
        return _to_decimal(column, source, of)
    if isinstance(source, t.DecimalType):
        return decimals.as_doubles(column).cast(of) if is_approximate(wanted) else _whole_of_decimal(column, of)
    if is_approximate(source) and not is_approximate(wanted):
        return _whole_of_float(column, of)
    return pc.cast(column, of, safe=False)


def _to_decimal(column: Any, source: t.DataType, of: pa.DataType) -> Any:
    if isinstance(source, t.DecimalType):
        return decimals.fitted(column, of)
    if isinstance(source, t.IntegralType):
        digits = {8: 3, 16: 5, 32: 10, 64: 19}[source.bits]
        fits = of.scale + digits <= 38 and digits <= of.precision - of.scale
        return column.cast(of) if fits else decimals.fitted(column.cast(pa.decimal128(digits, 0)), of)
    # As in Java, by the shortest decimal representation, so that 1.005 is rounded to 1.01.
    values = [_decimal_of_float(value, of) for value in column.cast(pa.float64()).to_pylist()]
    return pa.array(values, of)


def _decimal_of_float(value: float | None, of: pa.DataType) -> decimal.Decimal | None:
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    number = decimal.Decimal(repr(value))
    whole = of.precision - of.scale
    if not number.is_zero() and number.adjusted() >= whole:
        return None
    fitting = number.quantize(decimal.Decimal(1).scaleb(-of.scale), decimal.ROUND_HALF_UP, decimal.Context(prec=100))
    return fitting if fitting.is_zero() or fitting.adjusted() < whole else None


def _whole_of_decimal(column: Any, of: pa.DataType) -> Any:
    """Truncate decimals; the lower bits of large numbers remain, as in Java."""
    whole = pc.trunc(column).cast(pa.decimal128(max(1, column.type.precision - column.type.scale), 0))
    values = decimals.low_words(whole).astype(of.to_pandas_dtype())
    return from_numbers(values, valid_mask(column), of)


def _whole_of_float(column: Any, of: pa.DataType) -> Any:
    """Truncate floats; NaN becomes 0, values out of range the bounds, as in Java, for narrow types by way of INT."""
    values = numbers(column).astype(np.float64)
    bits = 64 if pa.types.is_int64(of) else 32
    low, high = -(2.0 ** (bits - 1)), 2.0 ** (bits - 1)
    with np.errstate(all="ignore"):
        inside = np.trunc(np.where(np.isnan(values), 0.0, np.clip(values, low, np.nextafter(high, 0)))).astype(np.int64)
    inside = np.where(values >= high, int(high) - 1, inside)
    return from_numbers(inside.astype(of.to_pandas_dtype()), valid_mask(column), of)


def _try_cast(call: Call, frame: Any, column: Any) -> Any:
    """Cast the values, with NULL for failures; an array, map or row is NULL if a part of it fails."""
    if not isinstance(call.data_type, t.ArrayType | t.MapType | t.RowType):
        return _cast(call, frame, column)
    strictly = Call(call.data_type, "CAST", call.operands, call.options)
    try:
        return _cast(strictly, frame, column)
    except ExpressionError:
        if len(column) == 1:
            return pa.nulls(1, arrow_type(call.data_type))
        return pa.concat_arrays([_try_cast(call, frame, column.slice(place, 1)) for place in range(len(column))])


def _may_fail(call: Call) -> bool:
    return call.function == "CAST" and _reads_strings(call.operands[0].data_type, call.data_type)


def _reads_strings(source: Any, wanted: Any) -> bool:
    if isinstance(wanted, t.ArrayType) and isinstance(source, t.ArrayType):
        return _reads_strings(source.element_type, wanted.element_type)
    if isinstance(wanted, t.MapType) and isinstance(source, t.MapType):
        return _reads_strings(source.key_type, wanted.key_type) or _reads_strings(source.value_type, wanted.value_type)
    if isinstance(wanted, t.RowType) and isinstance(source, t.RowType):
        return any(_reads_strings(a.data_type, b.data_type) for a, b in zip(source.fields, wanted.fields, strict=True))
    return is_text(source) and not is_text(wanted) and not is_binary(wanted)


register(ScalarFunction("CAST", _resolve, by_arrays(_cast), may_fail=_may_fail))
register(ScalarFunction("TRY_CAST", _resolve, by_arrays(_try_cast)))
