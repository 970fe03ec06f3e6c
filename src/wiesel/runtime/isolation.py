"""Internal. Copies of mutable results at the time they are emitted.

Records are serialised per batch, so an object that a function emits and changes later in the same batch (such as a list in its state) would
be sent in its changed form. Flink serialises or copies each record immediately unless ``pipeline.object-reuse`` is set. Here immutable
objects pass through, at the cost of a type check, and all others are copied.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import dis
import enum
import re
import types
import uuid
from collections.abc import Callable, Iterator
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
        re.Pattern,
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
    """Return ``value`` if it is immutable, else a copy of its present state."""
    kind = type(value)
    if kind in ATOMIC or (kind is tuple and _all_atomic(map(type, value))):
        return value
    way = _WAYS.get(kind)
    if way is None:
        way = _WAYS[kind] = _find_way(kind)
    return way(value)


def has_memory(function: Any) -> bool:
    """Return whether a user's function may retain objects between calls.

    It may if it has attributes, or uses mutable variables of its environment (enclosing functions, or its module). Classes and modules are
    not inspected.
    """
    return _has_memory(function, set())


def _has_memory(function: Any, seen: set[int]) -> bool:
    if isinstance(function, types.MethodType):
        return _has_memory(function.__self__, seen) or _has_memory(function.__func__, seen)
    if isinstance(function, types.FunctionType):
        # Functions may refer to each other in cycles.
        if id(function) in seen:
            return False
        seen.add(id(function))
        return bool(function.__dict__) or _binds(function.__code__) or any(_keeps(value, seen) for value in _around(function))
    if isinstance(function, type | types.ModuleType):
        return False
    return bool(getattr(function, "__dict__", None)) or any(vars(base).get("__slots__") for base in type(function).__mro__)


_UNBOUND = object()


def _around(function: types.FunctionType) -> Iterator[Any]:
    """Yield the values of a function's environment: parameter defaults, variables of enclosing functions and of its module."""
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            yield _UNBOUND
    for name in _globals_of(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]


def _keeps(value: Any, seen: set[int]) -> bool:
    if isinstance(value, types.FunctionType):
        return _has_memory(value, seen)
    return type(value) not in ATOMIC and not isinstance(value, type | types.ModuleType) and not _is_atomic_tuple(value)


def _is_atomic_tuple(value: Any) -> bool:
    return type(value) is tuple and _all_atomic(map(type, value))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _globals_of(code: types.CodeType) -> set[str]:
    return {i.argval for part in _codes(code) for i in dis.get_instructions(part) if i.opname == "LOAD_GLOBAL"}


def _binds(code: types.CodeType) -> bool:
    """Return whether a function, or a nested one, binds variables of its environment (``nonlocal``, ``global``)."""
    outer = set(code.co_freevars)
    return any(
        i.opname == "STORE_GLOBAL" or (i.opname == "STORE_DEREF" and i.argval in outer)
        for part in _codes(code)
        for i in dis.get_instructions(part)
    )


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
    """Return whether values are immutable numbers, strings or times of another library (numpy's scalars, pandas' timestamps)."""
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
