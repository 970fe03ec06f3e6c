"""Internal. The types of table columns: PyFlink's ``DataType`` tree, as plain data.

A data type is the SQL type of a value (``DECIMAL(10, 2) NOT NULL``); a :class:`~wiesel.types.typeinfo.TypeInformation` defines how a stream
stores it. :mod:`wiesel.types.logical_conversion` converts between them, :mod:`wiesel.types.logical_parser` parses SQL notation, and
:meth:`DataType.as_summary_string` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, TypeVar, overload

from wiesel.core.errors import ArgumentTypeError, ArgumentValueError

__all__ = [
    "MAX_LENGTH",
    "ArrayType",
    "AtomicType",
    "BigIntType",
    "BinaryType",
    "BooleanType",
    "CharType",
    "DataType",
    "DateType",
    "DecimalType",
    "DoubleType",
    "FloatType",
    "FractionalType",
    "IntType",
    "IntegralType",
    "ListViewType",
    "LocalZonedTimestampType",
    "MapType",
    "MapViewType",
    "MultisetType",
    "NullType",
    "NumericType",
    "RowField",
    "RowType",
    "SmallIntType",
    "TimeType",
    "TimestampType",
    "TinyIntType",
    "VarBinaryType",
    "VarCharType",
    "ZonedTimestampType",
    "checked_range",
    "contains",
    "quoted",
]

Self = TypeVar("Self", bound="DataType")

MAX_LENGTH = 2**31 - 1
"""The maximal length of strings and bytes; a VARCHAR of it is a STRING, a VARBINARY of it is BYTES."""


def quoted(name: str) -> str:
    """Return a name quoted for SQL."""
    return "`" + name.replace("`", "``") + "`"


def checked_range(value: Any, what: str, low: int, high: int) -> int:
    """Check that a value is an integer between two inclusive bounds, and return it.

    Raises:
        ProgramError: If it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        kind = ArgumentValueError if isinstance(value, int) and not isinstance(value, bool) else ArgumentTypeError
        raise kind(f"{what} is {value!r}", hint=f"give a whole number between {low} and {high} (both inclusive)")
    return value


class DataType:
    """The type of a column, or of a part of its values.

    Args:
        nullable: True if values may be ``None``.
    """

    _sql: ClassVar[str] = ""

    def __init__(self, nullable: bool = True) -> None:
        if not isinstance(nullable, bool):
            raise ArgumentTypeError(f"the nullability of a {type(self).__name__} is {nullable!r}", hint="give True or False")
        self._nullable = nullable

    def not_null(self: Self) -> Self:
        """Return the type without ``None``."""
        return self._with_nullability(False)

    def nullable(self: Self) -> Self:
        """Return the type with ``None``."""
        return self._with_nullability(True)

    def _with_nullability(self: Self, nullable: bool) -> Self:
        changed = copy(self)
        changed._nullable = nullable
        return changed

    def bridged_to(self: Self, conversion_cls: str) -> Self:
        """Return the type itself: the Java class of the values has no meaning in Python."""
        if not isinstance(conversion_cls, str):
            raise ArgumentTypeError(f"the class of the values of {self.as_summary_string()} is {conversion_cls!r}", hint="give its name")
        return self

    @property
    def is_nullable(self) -> bool:
        """True if values may be ``None``."""
        return self._nullable

    @classmethod
    def type_name(cls) -> str:
        """Return the name of the type root, without parameters."""
        return cls.__name__[: -len("Type")].upper()

    def as_summary_string(self) -> str:
        """Return the type in the notation of SQL, as Flink prints it: ``ARRAY<INT NOT NULL>``."""
        return self._notation() if self._nullable else f"{self._notation()} NOT NULL"

    def _notation(self) -> str:
        return self._sql

    def _parameters(self) -> tuple[Any, ...]:
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, (*self._parameters(), str(self._nullable).lower())))})"

    def __str__(self) -> str:
        return self.type_name()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(str(self))


class AtomicType(DataType):
    """A type without nested types."""


class NullType(AtomicType):
    """The type of an untyped ``NULL``."""

    _sql = "NULL"

    def __init__(self) -> None:
        super().__init__(True)


class NumericType(AtomicType):
    """Numbers."""


class IntegralType(NumericType):
    """Whole numbers."""

    bits: ClassVar[int]
    """Number of bits of a value, including the sign."""


class FractionalType(NumericType):
    """Numbers with a fraction."""


class _LengthType(AtomicType):
    _what: ClassVar[str]

    def __init__(self, length: int = 1, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.length = checked_range(length, f"{self._what} length", 1, MAX_LENGTH)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.length,)

    def _notation(self) -> str:
        return f"{self._sql}({self.length})"


class CharType(_LengthType):
    """Strings of fixed length; ``CHAR(n)``."""

    _sql, _what = "CHAR", "character string"


class VarCharType(_LengthType):
    """Strings of bounded length; ``VARCHAR(n)``, ``STRING``."""

    _sql, _what = "VARCHAR", "character string"

    def _notation(self) -> str:
        return "STRING" if self.length == MAX_LENGTH else super()._notation()


class BinaryType(_LengthType):
    """Bytes of fixed length; ``BINARY(n)``."""

    _sql, _what = "BINARY", "binary string"


class VarBinaryType(_LengthType):
    """Bytes of bounded length; ``VARBINARY(n)``, ``BYTES``."""

    _sql, _what = "VARBINARY", "binary string"

    def _notation(self) -> str:
        return "BYTES" if self.length == MAX_LENGTH else super()._notation()


class BooleanType(AtomicType):
    """``BOOLEAN``."""

    _sql = "BOOLEAN"


class TinyIntType(IntegralType):
    """Whole numbers of 8 bits; ``TINYINT``."""

    _sql, bits = "TINYINT", 8


class SmallIntType(IntegralType):
    """Whole numbers of 16 bits; ``SMALLINT``."""

    _sql, bits = "SMALLINT", 16


class IntType(IntegralType):
    """Whole numbers of 32 bits; ``INT``."""

    _sql, bits = "INT", 32


class BigIntType(IntegralType):
    """Whole numbers of 64 bits; ``BIGINT``."""

    _sql, bits = "BIGINT", 64


class FloatType(FractionalType):
    """Floating-point numbers of 32 bits; ``FLOAT``."""

    _sql = "FLOAT"


class DoubleType(FractionalType):
    """Floating-point numbers of 64 bits; ``DOUBLE``."""

    _sql = "DOUBLE"


class DecimalType(FractionalType):
    """Exact numbers with ``precision`` digits, ``scale`` of them after the decimal point; ``DECIMAL(p, s)``."""

    def __init__(self, precision: int = 10, scale: int = 0, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.precision = checked_range(precision, "decimal precision", 1, 38)
        self.scale = checked_range(scale, f"the scale of a decimal with {precision} digits", 0, precision)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision, self.scale)

    def _notation(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


class DateType(AtomicType):
    """Days; ``DATE``."""

    _sql = "DATE"


class _PrecisionType(AtomicType):
    """Temporal types with up to nine fractional digits of seconds."""

    _default: ClassVar[int] = 6

    def __init__(self, precision: int | None = None, nullable: bool = True) -> None:
        super().__init__(nullable)
        given = self._default if precision is None else precision
        self.precision = checked_range(given, f"{self.type_name().lower()} precision", 0, 9)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision,)

    def _notation(self) -> str:
        return f"{self._sql}({self.precision})"


class TimeType(_PrecisionType):
    """Times of day; ``TIME(p)``."""

    _sql, _default = "TIME", 0


class TimestampType(_PrecisionType):
    """Timestamps without time zone; ``TIMESTAMP(p)``."""

    _sql = "TIMESTAMP"


class LocalZonedTimestampType(_PrecisionType):
    """Instants, displayed in the session's time zone; ``TIMESTAMP_LTZ(p)``."""

    _sql = "TIMESTAMP_LTZ"


class ZonedTimestampType(_PrecisionType):
    """Instants with individual time zones; ``TIMESTAMP(p) WITH TIME ZONE``."""

    def _notation(self) -> str:
        return f"TIMESTAMP({self.precision}) WITH TIME ZONE"


def _require_type(value: Any, what: str) -> DataType:
    if not isinstance(value, DataType):
        raise ArgumentTypeError(f"{what} is {value!r}, which is not a data type", hint="give one of DataTypes, such as DataTypes.INT()")
    return value


class ArrayType(DataType):
    """Lists of one type; ``ARRAY<t>``."""

    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.element_type = _require_type(element_type, "the element type of an array")

    def __repr__(self) -> str:
        return f"ArrayType({self.element_type!r}, {str(self._nullable).lower()})"

    def _notation(self) -> str:
        return f"ARRAY<{self.element_type.as_summary_string()}>"


class MultisetType(DataType):
    """Multisets: values of one type and their counts; ``MULTISET<t>``."""

    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.element_type = _require_type(element_type, "the element type of a multiset")

    def __repr__(self) -> str:
        return f"MultisetType({self.element_type!r}, {str(self._nullable).lower()})"

    def _notation(self) -> str:
        return f"MULTISET<{self.element_type.as_summary_string()}>"


class MapType(DataType):
    """Keys of one type with values of one type; ``MAP<k, v>``."""

    def __init__(self, key_type: DataType, value_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.key_type = _require_type(key_type, "the key type of a map")
        self.value_type = _require_type(value_type, "the value type of a map")

    def __repr__(self) -> str:
        return f"MapType({self.key_type!r}, {self.value_type!r}, {str(self._nullable).lower()})"

    def _notation(self) -> str:
        return f"MAP<{self.key_type.as_summary_string()}, {self.value_type.as_summary_string()}>"


class ListViewType(DataType):
    """A list in the accumulator of an aggregate function."""

    def __init__(self, element_type: DataType) -> None:
        super().__init__(True)
        self.element_type = _require_type(element_type, "the element type of a list view")

    def __repr__(self) -> str:
        return f"ListViewType({self.element_type!r})"

    def _notation(self) -> str:
        return f"LIST_VIEW<{self.element_type.as_summary_string()}>"


class MapViewType(DataType):
    """A map in the accumulator of an aggregate function."""

    def __init__(self, key_type: DataType, value_type: DataType) -> None:
        super().__init__(True)
        self.key_type = _require_type(key_type, "the key type of a map view")
        self.value_type = _require_type(value_type, "the value type of a map view")

    def __repr__(self) -> str:
        return f"MapViewType({self.key_type!r}, {self.value_type!r})"

    def _notation(self) -> str:
        return f"MAP_VIEW<{self.key_type.as_summary_string()}, {self.value_type.as_summary_string()}>"


_NO_DESCRIPTION = "..."


class RowField:
    """A field of a :class:`RowType`: name, type and optional description."""

    def __init__(self, name: str, data_type: DataType, description: str | None = None) -> None:
        given: list[tuple[str, object]] = [("name", name), ("description", description or "")]
        for what, text in given:
            if not isinstance(text, str):
                raise ArgumentTypeError(f"the {what} of a row's field is {text!r}", hint="give a string")
        self.name = name
        self.data_type = _require_type(data_type, f"the type of the row's field {name!r}")
        self.description = _NO_DESCRIPTION if description is None else description

    def _notation(self) -> str:
        described = "" if self.description == _NO_DESCRIPTION else f" '{_NO_DESCRIPTION}'"
        return f"{quoted(self.name)} {self.data_type.as_summary_string()}{described}"

    def __repr__(self) -> str:
        return f"RowField({self.name}, {self.data_type!r}, {self.description})"

    def __str__(self) -> str:
        return f"RowField({self.name}, {self.data_type})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowField) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.name, self.data_type))


class RowType(DataType):
    """Rows; iterates over the fields, which are accessed by position and by name. ``ROW<a INT, b STRING>``."""

    def __init__(self, fields: list[RowField] | None = None, nullable: bool = True) -> None:
        super().__init__(nullable)
        given: list[object] = [*fields] if fields else []
        for field in given:
            if not isinstance(field, RowField):
                raise ArgumentTypeError(f"{field!r} is not a field of a row", hint="give a list of DataTypes.FIELD(name, type)")
        self.fields = fields or []
        self._check_names()

    def _check_names(self) -> None:
        duplicates = sorted({name for name in self.names if self.names.count(name) > 1})
        if duplicates:
            raise ArgumentValueError(f"field names of a row must be unique; found duplicates: {duplicates}", hint="rename the fields")

    @property
    def names(self) -> list[str]:
        """The names of the fields."""
        return [field.name for field in self.fields]

    def add(self, field: RowField | str, data_type: DataType | None = None) -> RowType:
        """Add a field, or a name with a type, and return this type.

        Raises:
            ProgramError: If the name has no type, or exists already.
        """
        if isinstance(field, str):
            if data_type is None:
                raise ArgumentValueError(f"the row's field {field!r} is added without a type", hint="give one of DataTypes with the name")
            field = RowField(field, _require_type(data_type, f"the type of the row's field {field!r}"))
        self.fields = RowType([*self.fields, field]).fields
        return self

    def field_names(self) -> list[str]:
        """Return the names of the fields."""
        return self.names

    def field_types(self) -> list[DataType]:
        """Return the types of the fields."""
        return [field.data_type for field in self.fields]

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    @overload
    def __getitem__(self, key: str | int) -> RowField: ...
    @overload
    def __getitem__(self, key: slice) -> RowType: ...
    def __getitem__(self, key: str | int | slice) -> RowField | RowType:
        if isinstance(key, slice):
            return RowType(self.fields[key])
        if isinstance(key, int):
            return self.fields[key]
        if not isinstance(key, str):
            raise TypeError(f"fields of a row are found by name, position or slice, not by {key!r}")
        for field in self.fields:
            if field.name == key:
                return field
        raise KeyError(f"No RowField named {key}")

    def __repr__(self) -> str:
        return f"RowType({','.join(map(repr, self.fields))})"

    def _notation(self) -> str:
        return f"ROW<{', '.join(field._notation() for field in self.fields)}>"


def contains(of: DataType, kinds: type[DataType] | tuple[type[DataType], ...]) -> bool:
    """Return whether a type, or a type nested in it, is an instance of some classes."""
    if isinstance(of, ArrayType | MultisetType):
        parts: list[DataType] = [of.element_type]
    elif isinstance(of, MapType):
        parts = [of.key_type, of.value_type]
    else:
        parts = of.field_types() if isinstance(of, RowType) else []
    return isinstance(of, kinds) or any(contains(part, kinds) for part in parts)
