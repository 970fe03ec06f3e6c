"""Internal. Arrow types of the data types.

Intervals are numbers, as in Flink: months, or milliseconds. Times of day have milliseconds, as Flink computes with no more. A timestamp's
unit is the coarsest for its precision: one of more than six digits only covers 1677 to 2262.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from wiesel.core.errors import ProgramError
from wiesel.types import logical as t
from wiesel.types import logical_intervals as intervals
from wiesel.types.logical_bitmap import BitmapType
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_structured import StructuredType
from wiesel.types.logical_variant import VariantType

__all__ = ["arrow_schema", "arrow_type"]


def _unit(precision: int) -> str:
    return "ms" if precision <= 3 else "us" if precision <= 6 else "ns"


_TYPES: dict[type[t.DataType], Callable[[Any], pa.DataType]] = {
    t.NullType: lambda of: pa.null(),
    t.CharType: lambda of: pa.string(),
    t.VarCharType: lambda of: pa.string(),
    t.BinaryType: lambda of: pa.binary(),
    t.VarBinaryType: lambda of: pa.binary(),
    t.BooleanType: lambda of: pa.bool_(),
    t.TinyIntType: lambda of: pa.int8(),
    t.SmallIntType: lambda of: pa.int16(),
    t.IntType: lambda of: pa.int32(),
    t.BigIntType: lambda of: pa.int64(),
    t.FloatType: lambda of: pa.float32(),
    t.DoubleType: lambda of: pa.float64(),
    t.DecimalType: lambda of: pa.decimal128(of.precision, of.scale),
    t.DateType: lambda of: pa.date32(),
    t.TimeType: lambda of: pa.time32("ms"),
    t.TimestampType: lambda of: pa.timestamp(_unit(of.precision)),
    t.LocalZonedTimestampType: lambda of: pa.timestamp(_unit(of.precision), "UTC"),
    intervals.YearMonthIntervalType: lambda of: pa.int32(),
    intervals.DayTimeIntervalType: lambda of: pa.int64(),
    t.ArrayType: lambda of: pa.list_(arrow_type(of.element_type)),
    t.MapType: lambda of: pa.map_(arrow_type(of.key_type), arrow_type(of.value_type)),
    t.MultisetType: lambda of: pa.map_(arrow_type(of.element_type), pa.int32()),
    BitmapType: lambda of: pa.list_(pa.int32()),
    VariantType: lambda of: pa.string(),
    RawType: lambda of: pa.large_binary(),  # unique to this type, so that pickles are recognised
    **dict.fromkeys((t.RowType, StructuredType), lambda of: pa.struct([pa.field(each.name, arrow_type(each.data_type)) for each in of])),
}


def arrow_type(data_type: t.DataType) -> pa.DataType:
    """Return the Arrow type for values of a data type.

    Raises:
        ProgramError: If such values cannot be columns: timestamps with time zone, views.
    """
    convert = _TYPES.get(type(data_type))
    if convert is None:
        raise ProgramError(f"values of type {data_type.as_summary_string()} cannot be computed with", hint="give the column another type")
    return convert(data_type)


def arrow_schema(columns: Iterable[tuple[str, t.DataType]]) -> pa.Schema:
    """Return the schema of batches with these columns, whose names may be duplicates.

    All fields are nullable; only the plan knows NOT NULL.
    """
    return pa.schema([pa.field(name, arrow_type(data_type)) for name, data_type in columns])
