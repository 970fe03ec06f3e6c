"""Internal. Checks of values against declared types, with the location of a mismatch inside the value.

Each type has a fast predicate, compiled once, and an explanation that is computed only when the predicate fails. Values are accepted if
Flink accepts them without loss; values that Flink's own conversions would silently change (an int out of range wraps around, a float given
for an INT becomes null or is truncated) are rejected.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from wiesel.core.durations import Instant
from wiesel.core.errors import TypeMismatchError
from wiesel.types.row import Row
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

__all__ = ["INT_RANGES", "Checker", "check_all", "checker_for", "may_be_none", "predicate_for"]

Predicate: TypeAlias = Callable[[Any], bool]
Checker: TypeAlias = Callable[..., bool]

INT_RANGES: dict[BasicType, tuple[int, int]] = {
    BasicType.BYTE: (-(2**7), 2**7 - 1),
    BasicType.SHORT: (-(2**15), 2**15 - 1),
    BasicType.INT: (-(2**31), 2**31 - 1),
    BasicType.LONG: (-(2**63), 2**63 - 1),
}
"""Smallest and largest value of the integer types."""


def checker_for(kind: TypeInformation) -> Checker:
    """Return a function ``(value, where="value") -> True`` that raises :class:`TypeMismatchError` for other values."""
    predicate = predicate_for(kind)

    def check(value: Any, where: str = "value") -> bool:
        if predicate(value):
            return True
        raise mismatch(kind, value, where)

    return check


def check_all(kind: TypeInformation, values: Iterable[Any], where: str) -> None:
    """Check the elements of a collection.

    Args:
        kind: The declared type.
        values: The elements.
        where: Name of the collection in the message; the element's index is appended.

    Raises:
        TypeMismatchError: For the first element of another type.
    """
    predicate = predicate_for(kind)
    for index, value in enumerate(values):
        if not predicate(value):
            raise mismatch(kind, value, f"{where}[{index}]")


def mismatch(kind: TypeInformation, value: Any, where: str) -> TypeMismatchError:
    """Return the error for a value that does not have its type."""
    place, found, wanted = _explain(kind, value, where)
    whole = "" if wanted == kind else f"; {where} is declared as {kind}"
    return TypeMismatchError(
        f"{place} is {_shortened(found)} ({type(found).__name__}), which is not {_article(wanted)}{wanted}{whole}",
        hint=_hint(wanted, found),
        place=place,
    )


def predicate_for(kind: TypeInformation) -> Predicate:
    """Return the compiled predicate of a type."""
    match kind:
        case BasicTypeInfo():
            return _basic(kind._basic_type)
        case PickledBytesTypeInfo():
            return lambda value: True
        case RowTypeInfo():
            return _row(kind)
        case TupleTypeInfo():
            return _tuple(kind)
        case PrimitiveArrayTypeInfo():
            return _primitive_array(kind)
        case BasicArrayTypeInfo() | ObjectArrayTypeInfo():
            return _elements(_or_none(predicate_for(kind.element_type)))
        case ListTypeInfo():
            return _elements(_or_none(predicate_for(kind.elem_type)))
        case MapTypeInfo():
            return _map(kind)
        case ExternalTypeInfo():
            return predicate_for(kind._type_info)
        case TimeTypeInfo():
            return lambda value: isinstance(value, datetime.time | datetime.datetime)
        case DateTypeInfo() | TimestampTypeInfo() | LocalTimeTypeInfo():
            return _is_instance(_TIME_CLASSES[_time_name(kind)])
    # A user-defined type: nothing is known about its values.
    return lambda value: True


def _basic(basic: BasicType) -> Predicate:
    if basic in INT_RANGES:
        low, high = INT_RANGES[basic]
        return lambda value: (type(value) is int or _is_integer(value)) and low <= value <= high
    match basic:
        case BasicType.BOOLEAN:
            return lambda value: value is True or value is False
        case BasicType.FLOAT | BasicType.DOUBLE:
            return lambda value: type(value) is float or (isinstance(value, numbers.Real) and not isinstance(value, bool))
        case BasicType.CHAR:
            return lambda value: isinstance(value, str) and len(value) == 1
        case BasicType.BIG_INT:
            return lambda value: type(value) is int or _is_integer(value)
        case BasicType.BIG_DEC:
            return lambda value: isinstance(value, decimal.Decimal) or type(value) is int
        case BasicType.INSTANT:
            return _is_instance(Instant)
        case _:
            return _is_instance(str)


def _is_integer(value: Any) -> bool:
    """Return whether a value is an integer of another library (numpy's); bool is excluded."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_instance(cls: type) -> Predicate:
    return lambda value: isinstance(value, cls)


_TIME_CLASSES: dict[str, type] = {"date": datetime.date, "time": datetime.time, "datetime": datetime.datetime}


def _time_name(kind: TypeInformation) -> str:
    if isinstance(kind, LocalTimeTypeInfo):
        return {"LOCAL_DATE": "date", "LOCAL_TIME": "time", "LOCAL_DATE_TIME": "datetime"}[kind._time_type.name]
    return "date" if isinstance(kind, DateTypeInfo) else "time" if isinstance(kind, TimeTypeInfo) else "datetime"


def _or_none(predicate: Predicate) -> Predicate:
    return lambda value: value is None or predicate(value)


def _row(kind: RowTypeInfo) -> Predicate:
    predicates = [_or_none(predicate_for(field)) for field in kind.get_field_types()]

    def check(value: Any) -> bool:
        fields = row_fields(kind, value)
        return fields is not None and len(fields) == len(predicates) and all(p(v) for p, v in zip(predicates, fields, strict=True))

    return check


def row_fields(kind: RowTypeInfo, value: Any) -> list[Any] | tuple[Any, ...] | None:
    """Return the values of a row's fields in the declared order.

    Rows with names, dicts and objects are read by name (missing fields of a dict or object are ``None``), other rows, tuples and lists by
    position. ``None`` is returned for a value that is no row.
    """
    if isinstance(value, Row):
        names = value._names
        if names is None or names == kind.get_field_names():
            return value._values
        if set(names) >= set(kind.get_field_names()):
            return value.get_fields_by_names(kind.get_field_names())
        # Other names mean that the row was created for another purpose; read by position, as between operators.
        return value._values
    if isinstance(value, tuple | list):
        return value
    if isinstance(value, dict):
        return [value.get(name) for name in kind.get_field_names()]
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return [getattr(value, name, None) for name in kind.get_field_names()]
    return None


def may_be_none(field: TypeInformation) -> bool:
    """Return whether a field of a tuple may be ``None``: Flink's tuples have no nulls, but some types encode them."""
    if isinstance(field, BasicTypeInfo):
        return field._basic_type in (BasicType.STRING, BasicType.BIG_INT, BasicType.BIG_DEC, BasicType.INSTANT)
    return isinstance(field, DateTypeInfo | LocalTimeTypeInfo)


def _tuple(kind: TupleTypeInfo) -> Predicate:
    predicates = [_or_none(predicate_for(field)) if may_be_none(field) else predicate_for(field) for field in kind.get_field_types()]
    size = len(predicates)
    return lambda value: (
        isinstance(value, tuple | list | Row) and len(value) == size and all(p(v) for p, v in zip(predicates, value, strict=True))
    )


def _is_byte_array(kind: PrimitiveArrayTypeInfo) -> bool:
    return kind.element_type == BasicTypeInfo(BasicType.BYTE)


def _primitive_array(kind: PrimitiveArrayTypeInfo) -> Predicate:
    elements = _elements(predicate_for(kind.element_type))
    if not _is_byte_array(kind):
        return elements
    return lambda value: isinstance(value, bytes | bytearray) or elements(value)


def _elements(predicate: Predicate) -> Predicate:
    def check(value: Any) -> bool:
        if isinstance(value, list | tuple):
            return all(map(predicate, value))
        # Arrays of other kinds (array.array, numpy): read element by element.
        return hasattr(value, "tolist") and all(map(predicate, value.tolist()))

    return check


def _map(kind: MapTypeInfo) -> Predicate:
    key = predicate_for(kind._key_type_info)
    item = _or_none(predicate_for(kind._value_type_info))
    return lambda value: isinstance(value, dict) and all(map(key, value)) and all(map(item, value.values()))


# Slow path: find the innermost mismatch.


def _explain(kind: TypeInformation, value: Any, where: str) -> tuple[str, Any, TypeInformation]:
    """Return the path, the value there and the expected type."""
    for place, part, part_kind, nullable in _parts(kind, value, where):
        if not (nullable and part is None) and not predicate_for(part_kind)(part):
            return _explain(part_kind, part, place)
    return where, value, kind


def _parts(kind: TypeInformation, value: Any, where: str) -> Iterable[tuple[str, Any, TypeInformation, bool]]:
    """Return place, value, type and nullability of the parts of a composite value; nothing if its shape is wrong."""
    if isinstance(kind, ExternalTypeInfo):
        return [(where, value, kind._type_info, False)]
    if isinstance(kind, RowTypeInfo):
        fields = row_fields(kind, value)
        if fields is None or len(fields) != len(kind.get_field_types()):
            return []
        triples = zip(kind.get_field_names(), fields, kind.get_field_types(), strict=True)
        return [(f"{where}.{name}", part, field, True) for name, part, field in triples]
    if isinstance(kind, TupleTypeInfo):
        if not isinstance(value, tuple | list | Row) or len(value) != len(kind.get_field_types()):
            return []
        pairs = zip(value, kind.get_field_types(), strict=True)
        return [(f"{where}[{i}]", part, field, may_be_none(field)) for i, (part, field) in enumerate(pairs)]
    if isinstance(kind, MapTypeInfo):
        if not isinstance(value, dict):
            return []
        keys = [(f"key {key!r} of {where}", key, kind._key_type_info, False) for key in value]
        return keys + [(f"{where}[{key!r}]", item, kind._value_type_info, True) for key, item in value.items()]
    if kind.children() and isinstance(value, list | tuple):
        nullable = not isinstance(kind, PrimitiveArrayTypeInfo)
        return [(f"{where}[{i}]", part, kind.children()[0], nullable) for i, part in enumerate(value)]
    return []


def _shortened(value: Any, limit: int = 200) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _article(kind: TypeInformation) -> str:
    return "an " if str(kind)[0] in "AEIOU" else "a "


def _hint(kind: TypeInformation, value: Any) -> str:
    if isinstance(kind, BasicTypeInfo) and kind._basic_type in INT_RANGES:
        low, high = INT_RANGES[kind._basic_type]
        if isinstance(value, int) and not isinstance(value, bool):
            return f"the type holds {low} to {high}; declare Types.LONG() or Types.BIG_INT()"
        return f"convert the value with int(), or declare {_name_of_type_of(value)}"
    if isinstance(kind, RowTypeInfo | TupleTypeInfo):
        return f"give a {'Row' if isinstance(kind, RowTypeInfo) else 'tuple'} with {len(kind.get_field_types())} fields, or change the type"
    if value is None:
        return "leave the value out, put it into a Row (whose fields may be None), or declare Types.PICKLED_BYTE_ARRAY()"
    return f"convert the value, or declare {_name_of_type_of(value)}"


_NAMES: dict[type, str] = {
    str: "Types.STRING()",
    bool: "Types.BOOLEAN()",
    int: "Types.LONG()",
    float: "Types.DOUBLE()",
    decimal.Decimal: "Types.BIG_DEC()",
    datetime.datetime: "Types.SQL_TIMESTAMP()",
    datetime.date: "Types.SQL_DATE()",
    datetime.time: "Types.SQL_TIME()",
    Instant: "Types.INSTANT()",
}


def _name_of_type_of(value: Any) -> str:
    return _NAMES.get(type(value), "Types.PICKLED_BYTE_ARRAY()")
