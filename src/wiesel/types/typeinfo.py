"""Internal. Declared types of records: PyFlink's ``TypeInformation`` tree, as plain data.

A type information is immutable, hashable, picklable and JSON-able (:meth:`TypeInformation.to_json`), compares structurally and prints as in
PyFlink. Functionality derived from it (checkers, coercions, codecs, Java strings) is in sibling modules, dispatched on the classes below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar

from wiesel.core.errors import ArgumentTypeError, ArgumentValueError, ProgramError

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "ExternalTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "LocalTimeTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
]


class TypeInformation:
    """The type of the values of a stream: how they are checked, stored and printed."""

    tag: ClassVar[str] = ""
    """Name of the class of types in JSON and in serializer snapshots; must never change."""

    def children(self) -> tuple[TypeInformation, ...]:
        """Return the types of the parts, in order."""
        return ()

    def parameters(self) -> dict[str, Any]:
        """Return further parameters of the type, JSON-able."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """Return the type as JSON-able data; :func:`wiesel.types.types.type_from_json` reads it."""
        data: dict[str, Any] = {"type": self.tag, **self.parameters()}
        if self.children():
            data["of"] = [child.to_json() for child in self.children()]
        return data

    def check(self, value: Any, where: str = "value") -> None:
        """Raise unless ``value`` is of this type.

        Raises:
            TypeMismatchError: Names the path inside the value, the value found there and the expected type.
        """
        self.compile_checker()(value, where)

    def compile_checker(self) -> Callable[..., bool]:
        """Return a function ``(value, where="value") -> True`` that raises :class:`TypeMismatchError` as :meth:`check`."""
        from wiesel.types.checks import checker_for

        return checker_for(self)

    def compile_coercer(self) -> Callable[[Any], Any] | None:
        """Return the function equivalent to Flink's serializers for this type, or ``None`` if values pass unchanged.

        ``None`` itself passes as a record (as between PyFlink's operators), though not as a part of a tuple or array.
        """
        from wiesel.types.coercion import coercer_for, nullable

        return nullable(coercer_for(self))

    def compile_batch_coercer(self) -> Callable[[list[Any]], list[Any]] | None:
        """Return the coercer of lists of values, see :meth:`compile_coercer`; it may return the given list."""
        from wiesel.types.coercion import batch_coercer_for

        return batch_coercer_for(self)

    def compile_batch_test(self) -> Callable[[list[Any]], bool]:
        """Return a quick test of a list of values: True only if :meth:`compile_coercer` would leave all of them unchanged."""
        from wiesel.types.coercion import batch_test_for

        return batch_test_for(self)

    def coerce(self, value: Any) -> Any:
        """Return ``value`` after a round trip through Flink's serializer for this type (see :mod:`wiesel.types.coercion`)."""
        coercer = self.compile_coercer()
        return value if coercer is None else coercer(value)

    def create_serializer(self) -> Any:
        """Return the :class:`~wiesel.types.serializers.TypeSerializer` of this type."""
        from wiesel.types.serializers import serializer_for

        return serializer_for(self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TypeInformation)
            and self.tag == other.tag
            and self.children() == other.children()
            and self._equality_key() == other._equality_key()
        )

    def _equality_key(self) -> Any:
        return None

    def __hash__(self) -> int:
        return hash((self.tag, self.children(), self._equality_key()))


class BasicType(Enum):
    """The basic types, by the name PyFlink prints."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


class BasicTypeInfo(TypeInformation):
    """A basic type: string, boolean, a number, a character or an instant."""

    tag = "basic"

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = basic_type

    def parameters(self) -> dict[str, Any]:
        return {"name": self._basic_type.name}

    def _equality_key(self) -> Any:
        return self._basic_type

    def __repr__(self) -> str:
        return self._basic_type.value

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802 - the names are Flink's and say it
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo:  # noqa: D102, N802
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> InstantTypeInfo:  # noqa: D102, N802
        return InstantTypeInfo(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo):
    """The type of :class:`wiesel.core.durations.Instant`."""

    def __init__(self, basic_type: BasicType = BasicType.INSTANT) -> None:
        super().__init__(basic_type)


class DateTypeInfo(TypeInformation):
    """The type of :class:`datetime.date` (``java.sql.Date``)."""

    tag = "sql_date"

    def __repr__(self) -> str:
        return "DateTypeInfo"


class TimeTypeInfo(TypeInformation):
    """The type of :class:`datetime.time` (``java.sql.Time``)."""

    tag = "sql_time"

    def __repr__(self) -> str:
        return "TimeTypeInfo"


class TimestampTypeInfo(TypeInformation):
    """The type of :class:`datetime.datetime` (``java.sql.Timestamp``)."""

    tag = "sql_timestamp"

    def __repr__(self) -> str:
        return "TimestampTypeInfo"


class SqlTimeTypeInfo(TypeInformation):
    """Names of the three SQL time types."""

    @staticmethod
    def DATE() -> TypeInformation:  # noqa: D102, N802
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TypeInformation:  # noqa: D102, N802
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TypeInformation:  # noqa: D102, N802
        return TimestampTypeInfo()


class LocalTimeTypeInfo(TypeInformation):
    """The types of ``java.time.LocalDate``, ``LocalTime`` and ``LocalDateTime``: Python's date, time and datetime without zone."""

    tag = "local_time"

    class TimeType(Enum):
        """The kind of time."""

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        self._time_type = time_type

    def parameters(self) -> dict[str, Any]:
        return {"name": self._time_type.name}

    def _equality_key(self) -> Any:
        return self._time_type

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"


class PickledBytesTypeInfo(TypeInformation):
    """Any Python object; serialised as a pickle. The type of everything undeclared."""

    tag = "pickled"

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"


class RowTypeInfo(TypeInformation):
    """The type of :class:`wiesel.types.row.Row`: types and, if declared, names of the fields.

    Two row types are equal when their field types are, whatever the names (as in PyFlink).

    Raises:
        ProgramError: If names and types differ in number.
    """

    tag = "row"

    def __init__(
        self,
        field_types: Sequence[TypeInformation],
        field_names: Sequence[str] | None = None,
        aliases: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._field_types = list(field_types)
        self._aliases = {name: [old] if isinstance(old, str) else list(old) for name, old in (aliases or {}).items()}
        unknown = sorted(self._aliases.keys() - set(field_names or ()))
        if unknown:
            raise ProgramError(
                f"aliases are given for fields that the row type does not have: {', '.join(unknown)}",
                hint="give them as {new name: [old names]}",
            )
        self._field_names = None if field_names is None else list(field_names)
        if self._field_names is not None and len(self._field_names) != len(self._field_types):
            raise ArgumentValueError(
                f"a row type with {len(self._field_names)} field names has {len(self._field_types)} field types",
                hint=f"give one type per name: {self._field_names}",
            )
        if self._field_names is not None and len(set(self._field_names)) != len(self._field_names):
            raise ArgumentValueError(f"a field name occurs twice in a row type: {self._field_names}", hint="field names must be unique")
        # One list for all rows of the type: rows with the same list need no comparison of names.
        self._all_names = [f"f{i}" for i in range(len(self._field_types))] if self._field_names is None else self._field_names

    def get_field_names(self) -> list[str]:
        """Return the field names; ``f0``, ``f1``, ... where none were declared."""
        return self._all_names

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a declared name, -1 if no names were declared.

        Raises:
            ValueError: If the name is not one of those declared.
        """
        return -1 if self._field_names is None else self._field_names.index(field_name)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields, in order."""
        return self._field_types

    def earlier_names(self, field_name: str) -> list[str]:
        """Return the earlier names of a field."""
        return self._aliases.get(field_name, [])

    def children(self) -> tuple[TypeInformation, ...]:
        return tuple(self._field_types)

    def parameters(self) -> dict[str, Any]:
        return {} if self._field_names is None else {"names": self._field_names}

    def __repr__(self) -> str:
        if self._field_names is None:
            return f"RowTypeInfo({', '.join(map(str, self._field_types))})"
        pairs = zip(self._field_names, self._field_types, strict=True)
        return f"RowTypeInfo({', '.join(f'{name}: {kind}' for name, kind in pairs)})"


class TupleTypeInfo(TypeInformation):
    """The type of a Python tuple of fixed length."""

    tag = "tuple"

    def __init__(self, field_types: Sequence[TypeInformation]) -> None:
        self._field_types = list(field_types)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields, in order."""
        return self._field_types

    def children(self) -> tuple[TypeInformation, ...]:
        return tuple(self._field_types)

    def __repr__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self._field_types))})"


class _ArrayTypeInfo(TypeInformation):
    _element_types: ClassVar[frozenset[BasicType] | None] = None

    def __init__(self, element_type: TypeInformation) -> None:
        allowed = self._element_types
        if allowed is not None and not (isinstance(element_type, BasicTypeInfo) and element_type._basic_type in allowed):
            raise ArgumentTypeError(
                f"{element_type} cannot be the element type of a {type(self).__name__}",
                hint=f"use one of {', '.join(sorted(t.name for t in allowed))}, or Types.OBJECT_ARRAY / Types.LIST for other elements",
            )
        self._element_type = element_type

    @property
    def element_type(self) -> TypeInformation:
        """The type of the elements."""
        return self._element_type

    def children(self) -> tuple[TypeInformation, ...]:
        return (self._element_type,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self._element_type}>"


_PRIMITIVES = frozenset(
    {
        BasicType.BOOLEAN,
        BasicType.BYTE,
        BasicType.SHORT,
        BasicType.INT,
        BasicType.LONG,
        BasicType.FLOAT,
        BasicType.DOUBLE,
        BasicType.CHAR,
    }
)


class PrimitiveArrayTypeInfo(_ArrayTypeInfo):
    """A list of one primitive type without nulls; of BYTE: :class:`bytes`."""

    tag = "primitive_array"
    _element_types = _PRIMITIVES


class BasicArrayTypeInfo(_ArrayTypeInfo):
    """A list of one basic type or string, in which an element may be null."""

    tag = "basic_array"
    _element_types = _PRIMITIVES | {BasicType.STRING}


class ObjectArrayTypeInfo(_ArrayTypeInfo):
    """A list of elements of any one type."""

    tag = "object_array"


class ListTypeInfo(TypeInformation):
    """A list of elements of any one type."""

    tag = "list"

    def __init__(self, element_type: TypeInformation) -> None:
        self.elem_type = element_type

    def children(self) -> tuple[TypeInformation, ...]:
        return (self.elem_type,)

    def __repr__(self) -> str:
        return f"ListTypeInfo<{self.elem_type}>"


class MapTypeInfo(TypeInformation):
    """A dict with keys of one type and values of one type."""

    tag = "map"

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        self._key_type_info = key_type_info
        self._value_type_info = value_type_info

    def children(self) -> tuple[TypeInformation, ...]:
        return (self._key_type_info, self._value_type_info)

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key_type_info}, {self._value_type_info}>"


class ExternalTypeInfo(TypeInformation):
    """A type from the Table API; behaves as the type it wraps."""

    tag = "external"

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = type_info

    def children(self) -> tuple[TypeInformation, ...]:
        return (self._type_info,)

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{self._type_info}>"
