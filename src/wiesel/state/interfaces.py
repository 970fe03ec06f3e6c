"""Internal. The kinds of state for user functions, under PyFlink's names; programs import them from ``wiesel.datastream.state``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

__all__ = [
    "AggregatingState",
    "AppendingState",
    "BroadcastState",
    "ListState",
    "MapState",
    "MergingState",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "State",
    "ValueState",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class State(ABC):
    """State of the current key.

    Reads return the stored object itself, not a copy (unless stated otherwise): after changing it in place, call ``update``, ``put`` or
    ``add`` with it, otherwise the change may be missing after a recovery.
    """

    __slots__ = ()

    @abstractmethod
    def clear(self) -> None:
        """Remove the state of the current key."""


class ValueState(State, Generic[T]):
    """One value per key."""

    __slots__ = ()

    @abstractmethod
    def value(self) -> T | None:
        """Return the value of the current key, or None."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Set the value of the current key; None removes it."""


class AppendingState(State, Generic[IN, OUT]):
    """State to which values are added, stored individually or combined."""

    __slots__ = ()

    @abstractmethod
    def get(self) -> OUT | None:
        """Return the contents for the current key, or None if there are none."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add a value for the current key."""


class MergingState(AppendingState[IN, OUT]):
    """Appending state whose contents can be merged across namespaces (merging windows)."""

    __slots__ = ()


class ReducingState(MergingState[T, T]):
    """The values of a key, combined into one by a reduce function."""

    __slots__ = ()


class AggregatingState(MergingState[IN, OUT]):
    """The values of a key, combined by an aggregate function; the accumulator is stored."""

    __slots__ = ()


class ListState(MergingState[T, list[T]]):
    """A list per key; elements may be of any type."""

    __slots__ = ()

    @abstractmethod
    def get(self) -> list[T]:
        """Return the elements of the current key as a new list, empty if there are none."""

    @abstractmethod
    def update(self, values: Iterable[T]) -> None:
        """Replace the elements of the current key; no elements clear it."""

    @abstractmethod
    def add_all(self, values: Iterable[T]) -> None:
        """Add elements at the end of the current key's list."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class _MapView(State, Generic[K, V]):
    """Read access to a map."""

    __slots__ = ()

    @abstractmethod
    def get(self, key: K) -> V | None:
        """Return the value under ``key``, or None."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Return whether there is a value that is not None under ``key``."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return all entries; removing the entry just returned is allowed while iterating."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return all keys of the map; see ``items``."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return all values of the map; see ``items``."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Return whether the map has no entry."""

    def __getitem__(self, key: K) -> V | None:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class _WritableMap(_MapView[K, V]):
    """Write access to a map."""

    __slots__ = ()

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value under ``key``."""

    @abstractmethod
    def put_all(self, dict_value: Mapping[K, V] | Iterable[tuple[K, V]]) -> None:
        """Set several entries."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove the entry of ``key`` if there is one."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class MapState(_WritableMap[K, V]):
    """A map per key of the stream; reading or writing one entry does not touch the others."""

    __slots__ = ()


class ReadOnlyBroadcastState(_MapView[K, V]):
    """The broadcast map as seen by the non-broadcast side. Values read must not be changed in place."""

    __slots__ = ()


class BroadcastState(ReadOnlyBroadcastState[K, V], _WritableMap[K, V]):
    """A map that belongs to no key and has to be the same on all subtasks: change it by broadcast elements only."""

    __slots__ = ()
