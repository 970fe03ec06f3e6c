"""Internal. ``DataTypes``: the names under which programs declare types of columns."""

from __future__ import annotations

from collections.abc import Sequence

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
    ListViewType,
    LocalZonedTimestampType,
    MapType,
    MapViewType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from wiesel.types.logical_intervals import DayTimeIntervalType, Resolution, YearMonthIntervalType, interval_type
from wiesel.types.logical_raw import RawType

__all__ = ["DataTypes"]


class DataTypes:
    """Factories of data types. Each takes ``nullable``: whether values may be ``None``.

    >>> print(DataTypes.ROW([DataTypes.FIELD("n", DataTypes.DECIMAL(10, 2, nullable=False))]).as_summary_string())
    ROW<`n` DECIMAL(10, 2) NOT NULL>
    """

    # ruff: noqa: N802 - the names are Flink's

    @staticmethod
    def NULL() -> NullType:
        """The type of an untyped ``NULL``; not allowed for columns."""
        return NullType()

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> CharType:
        """Strings of fixed length: ``str``."""
        return CharType(length, nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> VarCharType:
        """Strings of bounded length: ``str``."""
        return VarCharType(length, nullable)

    @staticmethod
    def STRING(nullable: bool = True) -> VarCharType:
        """Strings: ``str``."""
        return VarCharType(MAX_LENGTH, nullable)

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> BooleanType:
        """``bool``."""
        return BooleanType(nullable)

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> BinaryType:
        """Bytes of fixed length: ``bytes``."""
        return BinaryType(length, nullable)

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> VarBinaryType:
        """Bytes of bounded length: ``bytes``."""
        return VarBinaryType(length, nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> VarBinaryType:
        """``bytes``."""
        return VarBinaryType(MAX_LENGTH, nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DecimalType:
        """Exact numbers with at most 38 digits, ``scale`` of them after the decimal point: :class:`decimal.Decimal`."""
        return DecimalType(precision, scale, nullable)

    @staticmethod
    def TINYINT(nullable: bool = True) -> TinyIntType:
        """An ``int`` of 8 bits."""
        return TinyIntType(nullable)

    @staticmethod
    def SMALLINT(nullable: bool = True) -> SmallIntType:
        """An ``int`` of 16 bits."""
        return SmallIntType(nullable)

    @staticmethod
    def INT(nullable: bool = True) -> IntType:
        """An ``int`` of 32 bits."""
        return IntType(nullable)

    @staticmethod
    def BIGINT(nullable: bool = True) -> BigIntType:
        """An ``int`` of 64 bits."""
        return BigIntType(nullable)

    @staticmethod
    def FLOAT(nullable: bool = True) -> FloatType:
        """A ``float`` that is rounded to 32 bits."""
        return FloatType(nullable)

    @staticmethod
    def DOUBLE(nullable: bool = True) -> DoubleType:
        """A ``float``."""
        return DoubleType(nullable)

    @staticmethod
    def DATE(nullable: bool = True) -> DateType:
        """:class:`datetime.date`."""
        return DateType(nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> TimeType:
        """:class:`datetime.time`, with 0 to 9 digits of fractions of a second."""
        return TimeType(precision, nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> TimestampType:
        """:class:`datetime.datetime` without zone, with 0 to 9 digits of fractions of a second."""
        return TimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_WITH_LOCAL_TIME_ZONE(precision: int = 6, nullable: bool = True) -> LocalZonedTimestampType:
        """:class:`~wiesel.core.durations.Instant`, with 0 to 9 digits of fractions of a second."""
        return LocalZonedTimestampType(precision, nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> LocalZonedTimestampType:
        """Short for ``TIMESTAMP_WITH_LOCAL_TIME_ZONE``."""
        return LocalZonedTimestampType(precision, nullable)

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> ArrayType:
        """A ``list`` of one type."""
        return ArrayType(element_type, nullable)

    @staticmethod
    def LIST_VIEW(element_type: DataType) -> ListViewType:
        """A list in the accumulator of an aggregate function; not allowed for columns."""
        return ListViewType(element_type)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> MapType:
        """A ``dict``."""
        return MapType(key_type, value_type, nullable)

    @staticmethod
    def MAP_VIEW(key_type: DataType, value_type: DataType) -> MapViewType:
        """A map in the accumulator of an aggregate function; not allowed for columns."""
        return MapViewType(key_type, value_type)

    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> MultisetType:
        """A ``dict`` of values and their counts."""
        return MultisetType(element_type, nullable)

    @staticmethod
    def ROW(row_fields: Sequence[RowField] = (), nullable: bool = True) -> RowType:
        """A :class:`~wiesel.types.row.Row` with these fields, made by :meth:`FIELD`."""
        return RowType(list(row_fields), nullable)

    @staticmethod
    def RAW(nullable: bool = True) -> RawType:
        """Any Python object that can be pickled; Wiesel's own."""
        return RawType(nullable)

    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> RowField:
        """A field of a row."""
        return RowField(name, data_type, description)

    @staticmethod
    def SECOND(precision: int = DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION) -> Resolution:
        """Seconds as an end of an interval, with 0 to 9 digits of fractions."""
        return Resolution(Resolution.IntervalUnit.SECOND, precision)

    @staticmethod
    def MINUTE() -> Resolution:
        """Minutes as an end of an interval."""
        return Resolution(Resolution.IntervalUnit.MINUTE)

    @staticmethod
    def HOUR() -> Resolution:
        """Hours as an end of an interval."""
        return Resolution(Resolution.IntervalUnit.HOUR)

    @staticmethod
    def DAY(precision: int = DayTimeIntervalType.DEFAULT_DAY_PRECISION) -> Resolution:
        """Days as an end of an interval, with 1 to 6 digits."""
        return Resolution(Resolution.IntervalUnit.DAY, precision)

    @staticmethod
    def MONTH() -> Resolution:
        """Months as an end of an interval."""
        return Resolution(Resolution.IntervalUnit.MONTH)

    @staticmethod
    def YEAR(precision: int = YearMonthIntervalType.DEFAULT_PRECISION) -> Resolution:
        """Years as an end of an interval, with 1 to 4 digits."""
        return Resolution(Resolution.IntervalUnit.YEAR, precision)

    @staticmethod
    def INTERVAL(upper_resolution: Resolution, lower_resolution: Resolution | None = None) -> DayTimeIntervalType | YearMonthIntervalType:
        """Intervals from one unit down to another, or of one unit: ``INTERVAL(DAY(2), SECOND(3))``."""
        return interval_type(upper_resolution, lower_resolution)
