"""Internal. Types that can be written to columns without a CAST, as in Flink."""

from __future__ import annotations

from wiesel.types import logical as t
from wiesel.types import logical_intervals as intervals
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_variant import VariantType

__all__ = ["is_writable"]

_INTEGERS: tuple[type[t.DataType], ...] = (t.TinyIntType, t.SmallIntType, t.IntType, t.BigIntType)
# type of the column -> types of values that become it by themselves
_FROM: dict[type[t.DataType], tuple[type[t.DataType], ...]] = {
    t.CharType: (t.CharType,),
    t.VarCharType: (t.CharType, t.VarCharType),
    t.BinaryType: (t.BinaryType,),
    t.VarBinaryType: (t.BinaryType, t.VarBinaryType),
    t.BooleanType: (t.BooleanType,),
    **{kind: _INTEGERS[: place + 1] for place, kind in enumerate(_INTEGERS)},
    t.DecimalType: (*_INTEGERS, t.DecimalType, t.FloatType, t.DoubleType),
    t.FloatType: (*_INTEGERS, t.FloatType, t.DecimalType),
    t.DoubleType: (*_INTEGERS, t.FloatType, t.DoubleType, t.DecimalType),
    t.DateType: (t.DateType, t.TimestampType),
    t.TimeType: (t.TimeType, t.TimestampType),
    t.TimestampType: (t.TimestampType, t.LocalZonedTimestampType),
    t.LocalZonedTimestampType: (t.LocalZonedTimestampType, t.TimestampType),
    intervals.YearMonthIntervalType: (intervals.YearMonthIntervalType,),
    intervals.DayTimeIntervalType: (intervals.DayTimeIntervalType,),
    RawType: (RawType,),
    VariantType: (VariantType,),
}


def is_writable(value: t.DataType, column: t.DataType) -> bool:
    """Return whether values of a type may be written to a column of another one; whether there is NULL is looked at later."""
    if isinstance(value, t.NullType):
        return True
    if isinstance(column, t.RowType):
        return (
            isinstance(value, t.RowType)
            and len(value) == len(column)
            and all(is_writable(mine.data_type, theirs.data_type) for mine, theirs in zip(value, column, strict=True))
        )
    if isinstance(column, t.ArrayType | t.MultisetType):
        return (
            isinstance(value, t.ArrayType | t.MultisetType)
            and type(value) is type(column)
            and is_writable(value.element_type, column.element_type)
        )
    if isinstance(column, t.MapType):
        pairs = [(value.key_type, column.key_type), (value.value_type, column.value_type)] if isinstance(value, t.MapType) else []
        return bool(pairs) and all(is_writable(mine, theirs) for mine, theirs in pairs)
    return isinstance(value, _FROM.get(type(column), ()))
