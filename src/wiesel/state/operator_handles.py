"""Internal. Operator state objects for user functions, bound to the live lists and maps of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from wiesel.core.errors import StateAccessError
from wiesel.core.logs import get_logger
from wiesel.state.backend import OperatorStateStore
from wiesel.state.handles import serializer_of, state_converters
from wiesel.state.interfaces import BroadcastState, ListState, ReadOnlyBroadcastState

__all__ = [
    "BroadcastHandle",
    "OperatorListHandle",
    "ReadOnlyBroadcastHandle",
    "make_broadcast_state",
    "make_operator_list_state",
]

_log = get_logger("wiesel.state.operator_state")


class OperatorListHandle(ListState[Any]):
    """A list that belongs to the subtask."""

    __slots__ = ("_convert", "_entries")

    def __init__(self, entries: list[Any], convert: Callable[[Any], Any] | None = None) -> None:
        self._entries = entries
        self._convert = convert

    def get(self) -> list[Any]:
        """See ``ListState``."""
        return self._entries.copy()

    def add(self, value: Any) -> None:
        """See ``ListState``."""
        self._entries.append(value if self._convert is None else self._convert(value))

    def update(self, values: Iterable[Any]) -> None:
        """See ``ListState``."""
        self._entries[:] = self._converted(values)

    def add_all(self, values: Iterable[Any]) -> None:
        """See ``ListState``."""
        self._entries.extend(self._converted(values))

    def _converted(self, values: Iterable[Any]) -> list[Any]:
        return list(values if self._convert is None else map(self._convert, values))

    def clear(self) -> None:
        """See ``State``."""
        self._entries.clear()


class _BroadcastView(ReadOnlyBroadcastState[Any, Any]):
    """Base of both forms of the broadcast map."""

    __slots__ = ("_entries",)

    def __init__(self, entries: dict[Any, Any]) -> None:
        self._entries = entries

    def get(self, key: Any) -> Any:
        """See ``ReadOnlyBroadcastState``."""
        return self._entries.get(key)

    def contains(self, key: Any) -> bool:
        """See ``ReadOnlyBroadcastState``."""
        return key in self._entries

    def items(self) -> Iterator[tuple[Any, Any]]:
        """See ``ReadOnlyBroadcastState``."""
        return iter(list(self._entries.items()))

    def keys(self) -> Iterator[Any]:
        """See ``ReadOnlyBroadcastState``."""
        return iter(list(self._entries))

    def values(self) -> Iterator[Any]:
        """See ``ReadOnlyBroadcastState``."""
        return iter(list(self._entries.values()))

    def is_empty(self) -> bool:
        """See ``ReadOnlyBroadcastState``."""
        return not self._entries


class ReadOnlyBroadcastHandle(_BroadcastView):
    """The read-only broadcast map. Methods that would change it raise, as the maps of the subtasks would diverge.

    Raises:
        StateAccessError: By every method that ``BroadcastState`` has beyond ``ReadOnlyBroadcastState``, and by ``clear``.
    """

    __slots__ = ()

    def put(self, key: Any, value: Any) -> NoReturn:
        """Refuse."""
        self._refuse("put")

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> NoReturn:
        """Refuse."""
        self._refuse("put_all")

    def remove(self, key: Any) -> NoReturn:
        """Refuse."""
        self._refuse("remove")

    def clear(self) -> NoReturn:
        """Refuse."""
        self._refuse("clear")

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        self._refuse("put")

    def __delitem__(self, key: Any) -> NoReturn:
        self._refuse("remove")

    def _refuse(self, method: str) -> NoReturn:
        raise StateAccessError(
            f"{method}() was called on broadcast state where it is read-only",
            hint="change it in process_broadcast_element, the same way on all subtasks",
        )


class BroadcastHandle(_BroadcastView, BroadcastState[Any, Any]):
    """The writable broadcast map."""

    __slots__ = ("_convert_key", "_convert_value")

    def __init__(self, entries: dict[Any, Any], converters: tuple[Callable[[Any], Any] | None, ...] = (None, None)) -> None:
        super().__init__(entries)
        self._convert_key, self._convert_value = converters

    def put(self, key: Any, value: Any) -> None:
        """See ``BroadcastState``."""
        if self._convert_key is not None:
            key = self._convert_key(key)
        if self._convert_value is not None and value is not None:
            value = self._convert_value(value)
        self._entries[key] = value

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """See ``BroadcastState``."""
        for key, value in dict(dict_value).items():
            self.put(key, value)

    def remove(self, key: Any) -> None:
        """See ``BroadcastState``."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """See ``State``."""
        self._entries.clear()


def make_broadcast_state(descriptor: Any, store: OperatorStateStore, *, read_only: bool = False) -> Any:
    """Return the broadcast state of a ``MapStateDescriptor``; the read-only and the writable form of a name share their entries.

    Raises:
        StateAccessError: If the descriptor is not that of a map.
        StateMigrationError: If the name belongs to state of another kind, or values cannot be converted to the declared type.
    """
    entries = store.get_broadcast(_name_of(descriptor, "map", "MapStateDescriptor", store), serializer_of(descriptor))
    return ReadOnlyBroadcastHandle(entries) if read_only else BroadcastHandle(entries, state_converters(descriptor))


def make_operator_list_state(descriptor: Any, store: OperatorStateStore, *, union: bool = False) -> ListState[Any]:
    """Return the list of a ``ListStateDescriptor`` that is redistributed at a restore, or (``union``) replicated to all subtasks.

    Raises:
        StateAccessError: If the descriptor is not that of a list.
        StateMigrationError: If the name belongs to state of another kind, or values cannot be converted to the declared type.
    """
    get = store.get_union_list if union else store.get_list
    entries = get(_name_of(descriptor, "list", "ListStateDescriptor", store), serializer_of(descriptor))
    return OperatorListHandle(entries, state_converters(descriptor)[1])


def _name_of(descriptor: Any, kind: str, wanted: str, store: OperatorStateStore) -> str:
    if getattr(descriptor, "kind", None) != kind:
        raise StateAccessError(f"this operator state is asked for with a {wanted}, got {descriptor!r}", hint=f"give a {wanted}")
    if descriptor.ttl_settings() is not None:
        _log.warning("the time to live of %r has no effect: only keyed state expires, as in Flink", descriptor)
    for alias in descriptor.aliases:
        store.rename(alias, descriptor.name)
    return str(descriptor.name)
