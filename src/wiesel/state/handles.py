"""Internal. The state objects that user functions hold, bound to a table of the backend and to the current key.

For the ``hashmap`` backend and state without a namespace, values, lists and maps have specialised handles that access the dicts of the
store directly; all others go through the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from wiesel.core.errors import ConfigurationError, InvariantError, TypeMismatchError
from wiesel.state.backend import VOID, StateBackend
from wiesel.state.hashmap import DictListTable, DictMapTable, DictValueTable
from wiesel.state.interfaces import (
    AggregatingState,
    ListState,
    MapState,
    ReducingState,
    State,
    ValueState,
)
from wiesel.state.key_context import KeyContext
from wiesel.types.coercion import quick_test_of
from wiesel.types.typeinfo import ListTypeInfo, MapTypeInfo, TypeInformation

__all__ = [
    "AggregatingHandle",
    "ListHandle",
    "MapHandle",
    "ReducingHandle",
    "ValueHandle",
    "keys_with",
    "make_state",
    "serializer_of",
    "state_converters",
]

_Convert = Callable[[Any], Any]


class _Bound:
    """Base of the handles.

    Attributes:
        namespace: The namespace of the next access; windows set it.
    """

    __slots__ = ("_context", "_table", "namespace")

    def __init__(self, table: Any, context: KeyContext, namespace: Any) -> None:
        self._table = table
        self._context = context
        self.namespace = namespace

    def clear(self) -> None:
        """See ``State``."""
        self._table.remove(self._context.key, self.namespace)


class ValueHandle(_Bound, ValueState[Any]):
    """A value in any table."""

    __slots__ = ()

    def value(self) -> Any:
        """See ``ValueState``."""
        return self._table.get(self._context.key, self.namespace)

    def update(self, value: Any) -> None:
        """See ``ValueState``."""
        if value is None:
            self.clear()
        else:
            self._table.put(self._context.key, value, self.namespace)


class ListHandle(_Bound, ListState[Any]):
    """A list in any table."""

    __slots__ = ()

    def get(self) -> list[Any]:
        """See ``ListState``."""
        elements = self._table.get(self._context.key, self.namespace)
        return [] if elements is None else elements.copy()

    def add(self, value: Any) -> None:
        """See ``ListState``."""
        self._table.append(self._context.key, value, self.namespace)

    def update(self, values: Iterable[Any]) -> None:
        """See ``ListState``."""
        values = list(values)
        if values:
            self._table.put(self._context.key, values, self.namespace)
        else:
            self.clear()

    def add_all(self, values: Iterable[Any]) -> None:
        """See ``ListState``."""
        self._table.extend(self._context.key, values, self.namespace)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Move the elements of the current key from the namespaces ``sources`` to the end of those of ``target``."""
        table, key = self._table, self._context.key
        for source in sources:
            elements = table.get(key, source)
            if elements is not None and source != target:
                table.remove(key, source)
                table.extend(key, elements, target)


class MapHandle(_Bound, MapState[Any, Any]):
    """A map in any table."""

    __slots__ = ()

    def get(self, key: Any) -> Any:
        """See ``MapState``."""
        return self._table.get_entry(self._context.key, key, self.namespace)

    def put(self, key: Any, value: Any) -> None:
        """See ``MapState``."""
        self._table.put_entry(self._context.key, key, value, self.namespace)

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """See ``MapState``."""
        for key, value in dict(dict_value).items():
            self.put(key, value)

    def remove(self, key: Any) -> None:
        """See ``MapState``."""
        self._table.remove_entry(self._context.key, key, self.namespace)

    def contains(self, key: Any) -> bool:
        """See ``MapState``."""
        return self.get(key) is not None

    def items(self) -> Iterator[tuple[Any, Any]]:
        """See ``MapState``."""
        return self._table.entries(self._context.key, self.namespace)  # type: ignore[no-any-return]

    def keys(self) -> Iterator[Any]:
        """See ``MapState``."""
        return (key for key, _ in self.items())

    def values(self) -> Iterator[Any]:
        """See ``MapState``."""
        return (value for _, value in self.items())

    def is_empty(self) -> bool:
        """See ``MapState``."""
        return not self._table.has_entries(self._context.key, self.namespace)


class ReducingHandle(_Bound, ReducingState[Any]):
    """A reduced value in any table."""

    __slots__ = ("_convert", "_reduce")

    def __init__(self, table: Any, context: KeyContext, namespace: Any, function: Any, convert: _Convert | None = None) -> None:
        super().__init__(table, context, namespace)
        self._reduce = function.reduce
        self._convert = convert

    def get(self) -> Any:
        """See ``ReducingState``."""
        return self._table.get(self._context.key, self.namespace)

    def add(self, value: Any) -> None:
        """See ``ReducingState``; None clears."""
        table, key, namespace = self._table, self._context.key, self.namespace
        before = table.get(key, namespace)
        if before is not None and value is not None:
            value = self._reduce(before, value)
        if value is None:
            table.remove(key, namespace)
        else:
            table.put(key, value if self._convert is None else self._convert(value), namespace)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Reduce the values of the current key in the namespaces ``sources`` into that of ``target``."""
        _merge(self._table, self._context.key, target, sources, self._reduce, self._convert)


class AggregatingHandle(_Bound, AggregatingState[Any, Any]):
    """An accumulator in any table."""

    __slots__ = ("_convert", "_function")

    def __init__(self, table: Any, context: KeyContext, namespace: Any, function: Any, convert: _Convert | None = None) -> None:
        super().__init__(table, context, namespace)
        self._function = function
        self._convert = convert

    def get(self) -> Any:
        """See ``AggregatingState``."""
        accumulator = self._table.get(self._context.key, self.namespace)
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        """See ``AggregatingState``; None clears."""
        table, key, namespace, function = self._table, self._context.key, self.namespace, self._function
        if value is None:
            table.remove(key, namespace)
            return
        accumulator = table.get(key, namespace)
        if accumulator is None:
            accumulator = function.create_accumulator()
        accumulator = function.add(value, accumulator)
        table.put(key, accumulator if self._convert is None else self._convert(accumulator), namespace)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Merge the accumulators of the current key in the namespaces ``sources`` into that of ``target``."""
        _merge(self._table, self._context.key, target, sources, self._function.merge, self._convert)


def _merge(table: Any, key: Any, target: Any, sources: Iterable[Any], combine: Any, convert: _Convert | None) -> None:
    merged = table.get(key, target)
    for source in sources:
        value = table.get(key, source)
        if value is not None and source != target:
            table.remove(key, source)
            merged = value if merged is None else combine(merged, value)
    if merged is not None:
        table.put(key, merged if convert is None else convert(merged), target)


class _DictValueHandle(ValueState[Any]):
    """A value without a namespace in a dict."""

    __slots__ = ("_context", "_data", "_store")

    def __init__(self, table: DictValueTable, context: KeyContext) -> None:
        self._store = table.void
        self._data: dict[Any, Any] = table.void.data
        self._context = context

    def value(self) -> Any:
        """See ``ValueState``."""
        return self._data.get(self._context.key)

    def update(self, value: Any) -> None:
        """See ``ValueState``."""
        key = self._context.key
        if value is None:
            self._store.remove(key)
        else:
            self._data[key] = self._store.changes[key] = value

    def clear(self) -> None:
        """See ``State``."""
        self._store.remove(self._context.key)


class _DictListHandle(ListState[Any]):
    """A list without a namespace in a dict."""

    __slots__ = ("_context", "_data", "_store")

    def __init__(self, table: DictListTable, context: KeyContext) -> None:
        self._store = table.void
        self._data: dict[Any, list[Any]] = table.void.data
        self._context = context

    def get(self) -> list[Any]:
        """See ``ListState``."""
        elements = self._data.get(self._context.key)
        return [] if elements is None else elements.copy()

    def add(self, value: Any) -> None:
        """See ``ListState``."""
        self._store.append(self._context.key, value)

    def update(self, values: Iterable[Any]) -> None:
        """See ``ListState``."""
        values = list(values)
        if values:
            self._store.put(self._context.key, values)
        else:
            self._store.remove(self._context.key)

    def add_all(self, values: Iterable[Any]) -> None:
        """See ``ListState``."""
        self._store.extend(self._context.key, values)

    def clear(self) -> None:
        """See ``State``."""
        self._store.remove(self._context.key)


class _DictMapHandle(MapState[Any, Any]):
    """A map without a namespace in a dict."""

    __slots__ = ("_context", "_data", "_store")

    def __init__(self, table: DictMapTable, context: KeyContext) -> None:
        self._store = table.void
        self._data: dict[Any, dict[Any, Any]] = table.void.data
        self._context = context

    def get(self, key: Any) -> Any:
        """See ``MapState``."""
        entries = self._data.get(self._context.key)
        return None if entries is None else entries.get(key)

    def put(self, key: Any, value: Any) -> None:
        """See ``MapState``."""
        self._store.put_entry(self._context.key, key, value)

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """See ``MapState``."""
        put, slot = self._store.put_entry, self._context.key
        for key, value in dict(dict_value).items():
            put(slot, key, value)

    def remove(self, key: Any) -> None:
        """See ``MapState``."""
        self._store.remove_entry(self._context.key, key)

    def contains(self, key: Any) -> bool:
        """See ``MapState``."""
        return self.get(key) is not None

    def items(self) -> Iterator[tuple[Any, Any]]:
        """See ``MapState``."""
        return iter(list(self._data.get(self._context.key, {}).items()))

    def keys(self) -> Iterator[Any]:
        """See ``MapState``."""
        return iter(list(self._data.get(self._context.key, ())))

    def values(self) -> Iterator[Any]:
        """See ``MapState``."""
        return iter(list(self._data.get(self._context.key, {}).values()))

    def is_empty(self) -> bool:
        """See ``MapState``."""
        return self._context.key not in self._data

    def clear(self) -> None:
        """See ``State``."""
        self._store.remove(self._context.key)


class _ConvertingValue(ValueState[Any]):
    __slots__ = ()
    _converter: Callable[[Any], Any]

    def update(self, value: Any) -> None:
        """See ``ValueState``."""
        super().update(None if value is None else self._converter(value))  # type: ignore[safe-super]


class _ConvertingList(ListState[Any]):
    __slots__ = ()
    _converter: Callable[[Any], Any]

    def add(self, value: Any) -> None:
        """See ``ListState``."""
        super().add(self._converter(value))  # type: ignore[safe-super]

    def update(self, values: Iterable[Any]) -> None:
        """See ``ListState``."""
        super().update(list(map(self._converter, values)))  # type: ignore[safe-super]

    def add_all(self, values: Iterable[Any]) -> None:
        """See ``ListState``."""
        super().add_all(list(map(self._converter, values)))  # type: ignore[safe-super]


class _ConvertingMap(MapState[Any, Any]):
    __slots__ = ()
    _key_converter: Callable[[Any], Any]
    _converter: Callable[[Any], Any]

    def put(self, key: Any, value: Any) -> None:
        """See ``MapState``."""
        super().put(self._key_converter(key), None if value is None else self._converter(value))  # type: ignore[safe-super]

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """See ``MapState``."""
        for key, value in dict(dict_value).items():
            self.put(key, value)


class _DictIntegerHandle(_DictValueHandle):
    """An integer of a declared type in a dict. Its common case is written out: counters are updated once per record."""

    __slots__ = ("_bounds", "_converter")
    _bounds: tuple[int, int]
    _converter: Callable[[Any], Any]

    def update(self, value: Any) -> None:
        """See ``ValueState``."""
        low, high = self._bounds
        if type(value) is not int or not low <= value <= high:
            value = None if value is None else self._converter(value)
            if value is None:
                self._store.remove(self._context.key)
                return
        key = self._context.key
        self._data[key] = self._store.changes[key] = value


def _as_is(value: Any) -> Any:
    return value


_CONVERTING: dict[Any, Any] = {
    base: type(f"Converting{base.__name__.lstrip('_')}", (mixin, base), {"__slots__": ("_converter", "_key_converter")})
    for mixin, bases in (
        (_ConvertingValue, (ValueHandle, _DictValueHandle)),
        (_ConvertingList, (ListHandle, _DictListHandle)),
        (_ConvertingMap, (MapHandle, _DictMapHandle)),
    )
    for base in bases
}


def state_converters(descriptor: Any) -> tuple[Callable[[Any], Any] | None, Callable[[Any], Any] | None]:
    """Return the functions that convert keys (of a map) and values to the declared type, ``None`` where they are stored as they are.

    They raise ``TypeMismatchError`` for values that the type cannot hold.
    """
    kind = descriptor.type_info
    if isinstance(kind, MapTypeInfo) and descriptor.kind == "map":
        return _converter(descriptor, kind._key_type_info, "key"), _converter(descriptor, kind._value_type_info, "value")
    if isinstance(kind, ListTypeInfo) and descriptor.kind == "list":
        return None, _converter(descriptor, kind.elem_type, "element")
    return None, _converter(descriptor, kind, "value") if isinstance(kind, TypeInformation) else None


def _converter(descriptor: Any, kind: TypeInformation, part: str) -> Callable[[Any], Any] | None:
    coerce = kind.compile_coercer()
    if coerce is None:
        return None
    exact, low, high = quick_test_of(kind)

    def convert(value: Any) -> Any:
        if type(value) is exact and (low is None or low <= value <= high):
            return value
        try:
            converted = coerce(value)
        except TypeMismatchError as error:
            error.message = f"{part} written to the state {descriptor.name!r}: {error.message}"
            raise
        # Whoever changes a list or dict in place and writes it again keeps the object.
        return value if type(value) is type(converted) in (list, dict) and value == converted else converted

    return convert


def make_state(descriptor: Any, backend: StateBackend, context: KeyContext, namespace: Any = VOID, *, namespaced: bool = False) -> Any:
    """Return the state object of a descriptor.

    Args:
        descriptor: A ``StateDescriptor``.
        backend: Where the state is kept.
        context: Holds the current key.
        namespace: The namespace of the state.
        namespaced: The namespace will be changed, by setting the handle's attribute ``namespace``.

    Raises:
        StateMigrationError: If the state restored under that name does not fit.
        ConfigurationError: If the descriptor is of a kind that the engine does not know.
    """
    kind = getattr(descriptor, "kind", "")
    if kind not in ("value", "list", "map", "reducing", "aggregating"):
        raise ConfigurationError(f"{descriptor!r} does not describe a state", hint="pass a ValueStateDescriptor, ListStateDescriptor, ...")
    serializer = serializer_of(descriptor)
    table = backend.table(descriptor.name, serializer=serializer, ttl=descriptor.ttl_settings(), kind=kind, **_aliases(descriptor))
    converters = state_converters(descriptor)
    if namespace is VOID and not namespaced:
        if isinstance(table, DictValueTable) and kind == "value":
            _, low, high = quick_test_of(descriptor.type_info)
            if low is not None:
                counter = _DictIntegerHandle(table, context)
                counter._bounds, counter._converter = (low, high), converters[1] or _as_is
                return counter
            return _new(_DictValueHandle, converters, table, context)
        if isinstance(table, DictListTable):
            return _new(_DictListHandle, converters, table, context)
        if isinstance(table, DictMapTable):
            return _new(_DictMapHandle, converters, table, context)
    return _generic(descriptor, kind, table, context, namespace, converters)


def _generic(descriptor: Any, kind: str, table: Any, context: KeyContext, namespace: Any, converters: Any) -> State:
    if kind == "value":
        return _new(ValueHandle, converters, table, context, namespace)
    if kind == "list":
        return _new(ListHandle, converters, table, context, namespace)
    if kind == "map":
        return _new(MapHandle, converters, table, context, namespace)
    if kind == "reducing":
        return ReducingHandle(table, context, namespace, descriptor.get_reduce_function(), converters[1])
    if kind == "aggregating":
        return AggregatingHandle(table, context, namespace, descriptor.get_agg_function(), converters[1])
    raise InvariantError(f"a state of kind {kind!r}")


def _new(handle: Any, converters: Any, *arguments: Any) -> State:
    """Return a handle; it converts written values if the declared type may change or reject them."""
    if not any(converters):
        return cast(State, handle(*arguments))
    made = _CONVERTING[handle](*arguments)
    made._key_converter, made._converter = (_as_is if convert is None else convert for convert in converters)
    return cast(State, made)


def keys_with(descriptor: Any, backend: StateBackend) -> Iterator[Any]:
    """Yield each key with an entry in a state without a namespace once. The state of a key may be changed meanwhile."""
    ttl = descriptor.ttl_settings()
    table = backend.table(descriptor.name, serializer=serializer_of(descriptor), ttl=ttl, kind=descriptor.kind, **_aliases(descriptor))
    keys = (key for key, namespace, _ in table.items() if namespace is VOID)
    # Tables with a time to live may return an entry again that was changed meanwhile.
    return keys if ttl is None else _once(keys)


def _aliases(descriptor: Any) -> dict[str, Any]:
    return {"aliases": descriptor.aliases} if descriptor.aliases else {}


def _once(keys: Iterable[Any]) -> Iterator[Any]:
    seen: set[Any] = set()
    for key in keys:
        if key not in seen:
            seen.add(key)
            yield key


def serializer_of(descriptor: Any) -> Any:
    """Return the serializer of the type that a descriptor declares, None if it has none."""
    create = getattr(descriptor.type_info, "create_serializer", None)
    return None if create is None else create()
