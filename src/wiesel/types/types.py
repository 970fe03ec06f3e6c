"""Internal. ``Types``: the names under which programs declare types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wiesel.core.argument_checks import describe
from wiesel.core.errors import ArgumentTypeError, ProgramError
from wiesel.core.user_location import program_error
from wiesel.types.records import RecordTypeInfo
from wiesel.types.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    InstantTypeInfo,
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

__all__ = ["Types", "require_type", "type_from_json"]


class Types:
    """Factories of type informations.

    >>> Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.LONG()])
    RowTypeInfo(name: String, n: Long)
    """

    # ruff: noqa: N802 - the names are Flink's

    @staticmethod
    def STRING() -> TypeInformation:
        """Strings: ``str``."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BYTE() -> TypeInformation:
        """An 8-bit signed ``int``."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        """``bool``."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def SHORT() -> TypeInformation:
        """A 16-bit signed ``int``."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT() -> TypeInformation:
        """A 32-bit signed ``int``."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG() -> TypeInformation:
        """A 64-bit signed ``int``."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT() -> TypeInformation:
        """A ``float`` that is rounded to 32 bits."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE() -> TypeInformation:
        """A ``float``."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR() -> TypeInformation:
        """A ``str`` of one character."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT() -> TypeInformation:
        """An ``int`` of any size."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        """:class:`decimal.Decimal`."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT() -> TypeInformation:
        """:class:`~wiesel.core.durations.Instant`."""
        return InstantTypeInfo()

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        """:class:`datetime.date`."""
        return DateTypeInfo()

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        """:class:`datetime.time`."""
        return TimeTypeInfo()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        """:class:`datetime.datetime`."""
        return TimestampTypeInfo()

    @staticmethod
    def LOCAL_DATE() -> TypeInformation:
        """:class:`datetime.date`; Java's ``LocalDate``, missing in PyFlink's ``Types``."""
        return LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE)

    @staticmethod
    def LOCAL_TIME() -> TypeInformation:
        """:class:`datetime.time` without zone; Java's ``LocalTime``."""
        return LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_TIME)

    @staticmethod
    def LOCAL_DATE_TIME() -> TypeInformation:
        """:class:`datetime.datetime` without zone; Java's ``LocalDateTime``."""
        return LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME)

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        """Any Python object that can be pickled."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """A :class:`~wiesel.types.row.Row` with fields of these types, named ``f0``, ``f1``, ..."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(
        field_names: Sequence[str], field_types: Sequence[TypeInformation], aliases: Mapping[str, Sequence[str]] | None = None
    ) -> RowTypeInfo:
        """A :class:`~wiesel.types.row.Row` with fields of these names and types.

        Args:
            field_names: The names.
            field_types: The types.
            aliases: Field -> its earlier names in restored state.
        """
        return RowTypeInfo(field_types, field_names, aliases)

    @staticmethod
    def POJO(record_class: type) -> RecordTypeInfo:
        """Instances of a dataclass, a ``msgspec.Struct`` or a pydantic model, with schema evolution of their fields."""
        return RecordTypeInfo(record_class)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:
        """A ``tuple`` of these types."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """A ``list`` of a primitive type without ``None``; of BYTE: ``bytes``."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """A ``list`` of a basic type or string; elements may be ``None``."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """A ``list`` of any type."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        """A ``dict``."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        """A ``list``."""
        return ListTypeInfo(element_type_info)


_ONE_CHILD = {kind.tag: kind for kind in (PrimitiveArrayTypeInfo, BasicArrayTypeInfo, ObjectArrayTypeInfo)}
_PLAIN = {kind.tag: kind for kind in (DateTypeInfo, TimeTypeInfo, TimestampTypeInfo, PickledBytesTypeInfo)}


def type_from_json(data: dict[str, Any]) -> TypeInformation:
    """Return the type written by :meth:`TypeInformation.to_json`.

    Raises:
        ProgramError: If the data refers to an unknown type.
    """
    tag = data.get("type")
    children = [type_from_json(child) for child in data.get("of", ())]
    if tag == "basic":
        basic = BasicType[data["name"]]
        return InstantTypeInfo() if basic is BasicType.INSTANT else BasicTypeInfo(basic)
    if tag in _PLAIN:
        return _PLAIN[tag]()
    if tag in _ONE_CHILD:
        return _ONE_CHILD[tag](children[0])
    match tag:
        case "row":
            return RowTypeInfo(children, data.get("names"))
        case "tuple":
            return TupleTypeInfo(children)
        case "list":
            return ListTypeInfo(children[0])
        case "map":
            return MapTypeInfo(children[0], children[1])
        case "local_time":
            return LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType[data["name"]])
        case "record":
            return RecordTypeInfo.stored(data["class"], data["names"], children)
        case "external":
            return ExternalTypeInfo(children[0])
    raise ProgramError(f"unknown type {tag!r} in a stored type description", hint="it was written by a newer version of Wiesel")


def require_type(output_type: Any, method: str) -> TypeInformation:
    """Return the declared type of a result: pickled objects if none is declared, a row if a list of types is given.

    Raises:
        ArgumentTypeError: If it is something else.
    """
    if output_type is None:
        return Types.PICKLED_BYTE_ARRAY()
    if isinstance(output_type, TypeInformation):
        return output_type
    if isinstance(output_type, list) and all(isinstance(t, TypeInformation) for t in output_type):
        return RowTypeInfo(output_type)
    hint = "give one of wiesel.common.Types, e.g. Types.STRING()"
    name = getattr(output_type, "__name__", "")
    if name and getattr(Types, name, None) is output_type:
        hint = f"call it: Types.{name}()"
    raise program_error(f"the type given to {method} must be a TypeInformation, got {describe(output_type)}", hint, ArgumentTypeError)
