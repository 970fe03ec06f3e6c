"""Internal. Conversion between column types and record types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.types.logical import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from wiesel.types.logical_raw import RawType
from wiesel.types.logical_structured import StructuredType
from wiesel.types.logical_variant import VariantType
from wiesel.types.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from wiesel.types.types import Types

__all__ = ["field_of_tuple", "to_data_type", "to_type_info"]

_PRIMITIVE = frozenset(BasicType) - {BasicType.STRING, BasicType.BIG_DEC, BasicType.BIG_INT, BasicType.INSTANT}
"""Types that are primitive in Java, whose values in tuples cannot be null."""

_INFOS: dict[type[DataType], Callable[[Any], TypeInformation]] = {
    CharType: lambda t: Types.STRING(),
    VarCharType: lambda t: Types.STRING(),
    BooleanType: lambda t: Types.BOOLEAN(),
    BinaryType: lambda t: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    VarBinaryType: lambda t: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    DecimalType: lambda t: Types.BIG_DEC(),
    TinyIntType: lambda t: Types.BYTE(),
    SmallIntType: lambda t: Types.SHORT(),
    IntType: lambda t: Types.INT(),
    BigIntType: lambda t: Types.LONG(),
    FloatType: lambda t: Types.FLOAT(),
    DoubleType: lambda t: Types.DOUBLE(),
    DateType: lambda t: Types.LOCAL_DATE(),
    TimeType: lambda t: Types.LOCAL_TIME(),
    TimestampType: lambda t: Types.LOCAL_DATE_TIME(),
    LocalZonedTimestampType: lambda t: Types.INSTANT(),
    ArrayType: lambda t: Types.OBJECT_ARRAY(to_type_info(t.element_type)),
    MapType: lambda t: Types.MAP(to_type_info(t.key_type), to_type_info(t.value_type)),
    MultisetType: lambda t: Types.MAP(to_type_info(t.element_type), Types.INT()),
    VariantType: lambda t: Types.STRING(),
    RawType: lambda t: Types.PICKLED_BYTE_ARRAY(),
    **dict.fromkeys((RowType, StructuredType), lambda t: Types.ROW_NAMED(t.names, [to_type_info(part) for part in t.field_types()])),
}


def to_type_info(data_type: DataType) -> TypeInformation:
    """Return the record type of the values of a column.

    Raises:
        ProgramError: If there is none: intervals, timestamps with time zone, views, NULL.
    """
    convert = _INFOS.get(type(data_type))
    if convert is None:
        raise ProgramError(
            f"values of type {data_type.as_summary_string()} cannot become records of a stream",
            hint="leave the column out, or give it another type",
        )
    return convert(data_type)


_BASIC: dict[BasicType, Callable[[], DataType]] = {
    BasicType.STRING: lambda: VarCharType(MAX_LENGTH),
    BasicType.BYTE: TinyIntType,
    BasicType.BOOLEAN: BooleanType,
    BasicType.SHORT: SmallIntType,
    BasicType.INT: IntType,
    BasicType.LONG: BigIntType,
    BasicType.FLOAT: FloatType,
    BasicType.DOUBLE: DoubleType,
    BasicType.BIG_DEC: lambda: DecimalType(38, 18),
    BasicType.INSTANT: lambda: LocalZonedTimestampType(9),
}
_LOCAL: dict[LocalTimeTypeInfo.TimeType, Callable[[], DataType]] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: DateType,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: lambda: TimeType(9),
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: lambda: TimestampType(9),
}


def to_data_type(info: TypeInformation) -> DataType:
    """Return the column type of records; it is nullable in all parts except primitive arrays.

    Raises:
        ProgramError: If there is none: characters, integers of unbounded size.
    """
    data_type = _data_type(info)
    if data_type is None:
        raise ProgramError(
            f"records of type {info} cannot become values of a table",
            hint="declare another type where the stream is made, for example output_type=Types.ROW_NAMED([...], [...])",
        )
    return data_type


def field_of_tuple(info: TypeInformation) -> DataType:
    """Return the column type of a field of a tuple, which is not nullable where Java's tuples are not."""
    never_null = isinstance(info, TupleTypeInfo) or (isinstance(info, BasicTypeInfo) and info._basic_type in _PRIMITIVE)
    return to_data_type(info).not_null() if never_null else to_data_type(info)


def _data_type(info: TypeInformation) -> DataType | None:
    match info:
        case BasicTypeInfo():
            basic = _BASIC.get(info._basic_type)
            return None if basic is None else basic()
        case PickledBytesTypeInfo():
            return RawType()
        case DateTypeInfo():
            return DateType()
        case TimeTypeInfo():
            return TimeType(0)
        case TimestampTypeInfo():
            return TimestampType(9)
        case LocalTimeTypeInfo():
            return _LOCAL[info._time_type]()
        case PrimitiveArrayTypeInfo() if info.element_type == Types.BYTE():
            return VarBinaryType(MAX_LENGTH)
        case PrimitiveArrayTypeInfo():
            return ArrayType(to_data_type(info.element_type).not_null())
        case BasicArrayTypeInfo() | ObjectArrayTypeInfo() | ListTypeInfo():
            return ArrayType(to_data_type(info.children()[0]))
        case MapTypeInfo():
            key, value = info.children()
            return MapType(to_data_type(key), to_data_type(value))
        case RowTypeInfo():
            pairs = zip(info.get_field_names(), info.get_field_types(), strict=True)
            return RowType([RowField(name, to_data_type(part)) for name, part in pairs])
        case TupleTypeInfo():
            parts = [RowField(f"f{place}", field_of_tuple(part)) for place, part in enumerate(info.get_field_types())]
            return StructuredType(f"org.apache.flink.api.java.tuple.Tuple{len(parts)}", parts)
        case ExternalTypeInfo():
            return to_data_type(info.children()[0])
    return None
