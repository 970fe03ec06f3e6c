"""Internal. Declared types from Python's annotations."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import types
import typing
from collections.abc import Callable
from typing import Any

from wiesel.core.durations import Instant
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import Types

__all__ = ["row_type_of", "type_of_annotation", "type_of_return"]

_SIMPLE: dict[Any, Callable[[], TypeInformation]] = {
    str: Types.STRING,
    bool: Types.BOOLEAN,
    int: Types.LONG,
    float: Types.DOUBLE,
    bytes: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    decimal.Decimal: Types.BIG_DEC,
    datetime.datetime: Types.SQL_TIMESTAMP,
    datetime.date: Types.SQL_DATE,
    datetime.time: Types.SQL_TIME,
    Instant: Types.INSTANT,
}


def type_of_annotation(annotation: Any) -> TypeInformation:
    """Return the type of an annotation; ``PICKLED_BYTE_ARRAY`` if there is no specific one.

    Builtin types, ``list[T]``, ``dict[K, V]`` and ``tuple[A, B]`` map to the types of that name, ``int`` to LONG and ``float`` to DOUBLE.
    Dataclasses, NamedTuples and all others remain Python objects (pickled): as rows, the output would differ from the input.
    :func:`row_type_of` returns their row types.
    """
    if annotation in _SIMPLE if isinstance(annotation, collections.abc.Hashable) else False:
        return _SIMPLE[annotation]()
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return type_of_annotation(args[0])
    if origin is list and len(args) == 1:
        return Types.LIST(type_of_annotation(args[0]))
    if origin is dict and len(args) == 2:
        return Types.MAP(type_of_annotation(args[0]), type_of_annotation(args[1]))
    if origin is tuple and args and Ellipsis not in args:
        return Types.TUPLE([type_of_annotation(arg) for arg in args])
    return Types.PICKLED_BYTE_ARRAY()


def row_type_of(cls: type) -> TypeInformation | None:
    """Return the named row type with the fields of a dataclass, NamedTuple or TypedDict; ``None`` for other classes."""
    is_named = hasattr(cls, "_fields") and issubclass(cls, tuple)
    if not (dataclasses.is_dataclass(cls) or is_named or typing.is_typeddict(cls)):
        return None
    hints = typing.get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else list(hints)
    return Types.ROW_NAMED(names, [type_of_annotation(_without_none(hints[name])) for name in names])


def type_of_return(function: Callable[..., Any]) -> TypeInformation | None:
    """Return the type of a function's annotated result; ``None`` if it has no usable annotation."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        return None
    return type_of_annotation(hints["return"]) if "return" in hints else None


def _without_none(annotation: Any) -> Any:
    """Return ``T`` for ``T | None``: fields of rows may be None anyway."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        rest = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return annotation
