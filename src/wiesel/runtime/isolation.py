"""Internal. Results as they are when a function hands them out.

Records are serialised per batch, so an object that a function hands out and changes later in the same batch (a list that it keeps in
its state, say) would arrive changed. Flink serialises or copies each record at once unless ``pipeline.object-reuse`` is set. Here what
cannot change passes as it is, at the cost of a look at its type, and everything else is copied.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import types
import uuid
from collections.abc import Callable
from typing import Any, cast

from wiesel.spi.output_tag import OutputTag
from wiesel.types.row import Row, make_row

__all__ = ["ATOMIC", "has_memory", "isolated"]

ATOMIC: frozenset[type] = frozenset(
    {
        int,
        str,
        float,
        bool,
        bytes,
        type(None),
        complex,
        decimal.Decimal,
        datetime.date,
        datetime.datetime,
        datetime.time,
        datetime.timedelta,
        datetime.timezone,
        uuid.UUID,
        range,
        type,
        types.FunctionType,
        types.BuiltinFunctionType,
        types.ModuleType,
        OutputTag,
    }
)
"""Types whose values never change."""

_all_atomic = ATOMIC.issuperset


def isolated(value: Any) -> Any:
    """Return ``value`` if nothing can change it any more, else a copy of it as it is now."""
    kind = type(value)
    if kind in ATOMIC or (kind is tuple and _all_atomic(map(type, value))):
        return value
    way = _WAYS.get(kind)
    if way is None:
        way = _WAYS[kind] = _find_way(kind)
    return way(value)


def has_memory(function: Any) -> bool:
    """Return whether a user's function may keep hold of objects between calls: it has attributes, or variables from around it."""
    if isinstance(function, types.MethodType):
        return has_memory(function.__self__)
    if isinstance(function, types.FunctionType):
        return bool(function.__closure__)
    if isinstance(function, type):
        return False
    return bool(getattr(function, "__dict__", None)) or any(vars(base).get("__slots__") for base in type(function).__mro__)


def _as_is(value: Any) -> Any:
    return value


def _deep(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - what cannot be copied (locks, connections) passes, as it would in Flink with object reuse
        return value


def _tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(isolated, value))


def _tuple_subclass(value: Any) -> Any:
    return value if _all_atomic(map(type, value)) else _deep(value)


def _list(value: list[Any]) -> list[Any]:
    return value[:] if _all_atomic(map(type, value)) else _deep(value)


def _dict(value: dict[Any, Any]) -> dict[Any, Any]:
    return value.copy() if _all_atomic(map(type, value.values())) else _deep(value)


def _set(value: Any) -> Any:
    return value.copy() if _all_atomic(map(type, value)) else _deep(value)


def _row(value: Row) -> Row:
    if not _all_atomic(map(type, value._values)):
        return cast(Row, _deep(value))
    return make_row(value._names, value._values[:], value._row_kind)


def _plain_object(value: Any) -> Any:
    attributes = value.__dict__
    if not _all_atomic(map(type, attributes.values())):
        return _deep(value)
    other = object.__new__(type(value))
    other.__dict__.update(attributes)
    return other


def _find_way(kind: type) -> Callable[[Any], Any]:
    if issubclass(kind, enum.Enum | type) or _is_scalar(kind):
        return _as_is
    if issubclass(kind, tuple):
        return _tuple_subclass
    standard = (
        not any(hasattr(kind, name) for name in ("__copy__", "__deepcopy__", "__slots__")) and kind.__reduce_ex__ is object.__reduce_ex__
    )
    if (
        standard
        and kind.__base__ is object
        and kind.__new__ is object.__new__
        and "__dict__" in kind.__dict__
        and not _has_state_hooks(kind)
    ):
        return _plain_object
    return _deep


def _is_scalar(kind: type) -> bool:
    """Return whether values are immutable numbers, texts or times of another library (numpy's scalars, pandas' timestamps)."""
    of_numpy = any(base.__name__ == "generic" and base.__module__ == "numpy" for base in kind.__mro__)
    return of_numpy or (
        issubclass(kind, int | float | str | bytes | datetime.date | datetime.time | datetime.timedelta) and not kind.__dictoffset__
    )


def _has_state_hooks(kind: type) -> bool:
    # object itself has __getstate__ since Python 3.11.
    return getattr(kind, "__getstate__", None) is not getattr(object, "__getstate__", None) or hasattr(kind, "__setstate__")


_WAYS: dict[type, Callable[[Any], Any]] = {
    tuple: _tuple,
    list: _list,
    dict: _dict,
    set: _set,
    frozenset: _set,
    bytearray: bytearray,
    Row: _row,
}
