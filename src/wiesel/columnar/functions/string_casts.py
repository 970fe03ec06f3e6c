"""Internal. Conversion of values to strings, as by Flink's CAST."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.times import local
from wiesel.columnar.type_rules import is_binary, is_text
from wiesel.types import logical as t
from wiesel.types import logical_intervals as i
from wiesel.types.java_strings import double_to_string, float_to_string
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_structured import StructuredType
from wiesel.types.logical_variant import VariantType

__all__ = ["as_strings", "fitted_text", "text_of"]


def as_strings(column: Any, of: t.DataType, zone: str) -> Any:
    """Return a column's values as strings of any length."""
    if is_text(of):
        return column
    if isinstance(of, t.IntegralType):
        return column.cast(pa.string())
    if isinstance(of, t.BooleanType):
        return pc.if_else(column, "TRUE", "FALSE")
    if isinstance(of, t.FloatType | t.DoubleType):
        return _floats(column)
    if isinstance(of, t.DecimalType) and of.scale <= 6:
        return column.cast(pa.string())
    if isinstance(of, t.DateType):
        return column.cast(pa.string())
    if isinstance(of, t.TimeType):
        return _seconds(column, of.precision)
    if isinstance(of, t.TimestampType | t.LocalZonedTimestampType):
        return _seconds(local(column, zone), of.precision)
    if is_binary(of):
        try:
            return column.cast(pa.string())
        except pa.ArrowInvalid:
            pass
    return pa.array([None if value is None else text_of(value, of, zone) for value in column.to_pylist()], pa.string())


_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def _seconds(times: Any, precision: int) -> Any:
    """Format times with a number of fractional digits; sliced from the end, as not all years have four digits."""
    strings, digits = times.cast(pa.string()), _DIGITS[times.type.unit]
    surplus = digits - precision + (1 if digits and not precision else 0)
    return pc.utf8_slice_codeunits(strings, 0, -surplus) if surplus > 0 else strings


def _floats(column: Any) -> Any:
    """Format usual numbers by Arrow, very small and large ones as Java does."""
    size = pc.abs(column)
    usual = pc.or_(pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)), pc.equal(column, 0.0))
    strings = column.cast(pa.string())
    strings = pc.if_else(pc.match_substring_regex(strings, r"^-?\d+$"), pc.binary_join_element_wise(strings, ".0", ""), strings)
    if not usual.false_count:
        return strings
    write = float_to_string if pa.types.is_float32(column.type) else double_to_string
    others = [write(value) for value in column.filter(pc.invert(usual)).to_pylist() if value is not None]
    return pc.replace_with_mask(strings, pc.fill_null(pc.invert(usual), False), pa.array(others, pa.string()))


def fitted_text(strings: Any, wanted: t.DataType) -> Any:
    """Return strings truncated to the length of a type, and padded with blanks for CHAR."""
    length = wanted.length  # type: ignore[attr-defined]
    if length == t.MAX_LENGTH:
        return strings
    lengths = pc.utf8_length(strings)
    longest = lengths.as_py() if isinstance(lengths, pa.Scalar) else pc.max(lengths).as_py()
    if (longest or 0) > length:
        strings = pc.utf8_slice_codeunits(strings, 0, length)
    return pc.utf8_rpad(strings, length, " ") if isinstance(wanted, t.CharType) else strings


def text_of(value: Any, of: t.DataType, zone: str) -> str:
    """Return the string of one value, for parts of arrays, maps and rows."""
    if value is None:
        return "NULL"
    write = _WRITERS.get(type(of))
    if write is not None:
        return write(value, of, zone)
    return as_strings(pa.array([value], arrow_type(of)), of, zone)[0].as_py()  # type: ignore[no-any-return]


def _row(value: Any, of: Any, zone: str) -> str:
    return f"({', '.join(text_of(part, field.data_type, zone) for part, field in zip(value.values(), of.fields, strict=True))})"


def _object(value: Any, of: Any, zone: str) -> str:
    parts = zip(value.values(), of.fields, strict=True)
    return f"({', '.join(f'{field.name}={text_of(part, field.data_type, zone)}' for part, field in parts)})"


def _map(value: Any, of: Any, zone: str) -> str:
    return f"{{{', '.join(f'{text_of(key, of.key_type, zone)}={text_of(part, of.value_type, zone)}' for key, part in value)}}}"


def _day_time(value: int, of: Any, zone: str) -> str:
    sign, rest = "-" if value < 0 else "+", abs(value)
    days, rest = divmod(rest, 86_400_000)
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{sign}{days} {hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"


_WRITERS: dict[type[t.DataType], Callable[[Any, Any, str], str]] = {
    t.ArrayType: lambda value, of, zone: f"[{', '.join(text_of(part, of.element_type, zone) for part in value)}]",
    t.MapType: _map,
    t.MultisetType: lambda value, of, zone: f"{{{', '.join(f'{text_of(key, of.element_type, zone)}={count}' for key, count in value)}}}",
    t.RowType: _row,
    StructuredType: _object,
    t.DecimalType: lambda value, of, zone: format(value, "f"),
    t.BinaryType: lambda value, of, zone: value.decode("utf-8", "replace"),
    t.VarBinaryType: lambda value, of, zone: value.decode("utf-8", "replace"),
    t.CharType: lambda value, of, zone: value,
    t.VarCharType: lambda value, of, zone: value,
    VariantType: lambda value, of, zone: value,
    RawType: lambda value, of, zone: str(pickle.loads(value)),
    i.DayTimeIntervalType: _day_time,
    i.YearMonthIntervalType: lambda value, of, zone: f"{'-' if value < 0 else '+'}{abs(value) // 12}-{abs(value) % 12:02}",
}
