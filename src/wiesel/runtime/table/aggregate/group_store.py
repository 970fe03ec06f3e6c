"""Internal. Storage of the groups of GROUP BY between batches.

If keyed state is in memory and does not expire, groups are stored as columns and changes are written to keyed state when a checkpoint is
taken. Otherwise, to limit memory to that of the backend, groups are read and written one by one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from wiesel.columnar.aggregates.slots import Column, numbers
from wiesel.columnar.grouping import Places
from wiesel.runtime.table.aggregate.aggregation import Aggregation
from wiesel.runtime.table.aggregate.group_keys import GroupKeys
from wiesel.runtime.table.aggregate.slot_arrays import SlotArray

__all__ = ["ArrayGroups", "GroupStore", "Mask", "StateGroups"]

_FIRST_SIZE = 256
Mask = npt.NDArray[np.bool_]


class GroupStore(ABC):
    """The slots of groups by key; groups without rows are removed."""

    def keys(self, keys: list[Any]) -> GroupKeys:
        """Convert distinct keys for the other methods."""
        return GroupKeys(keys)

    @abstractmethod
    def read(self, keys: GroupKeys) -> tuple[Mask, list[Column]]:
        """Return which groups are there, and the slots of all: a column each."""

    @abstractmethod
    def write(self, keys: GroupKeys, slots: Sequence[Column]) -> None:
        """Set the slots of groups; the first one is the number of rows."""

    @abstractmethod
    def parts(self, size: int) -> Iterator[tuple[list[Any], list[Column]]]:
        """Yield keys and slots of all groups, in chunks."""

    def flush(self) -> None:
        """Write changes to keyed state."""


class StateGroups(GroupStore):
    """Groups in keyed state, read and written one by one."""

    def __init__(self, table: Any, aggregation: Aggregation) -> None:
        self._table = table
        self._aggregation = aggregation

    def read(self, keys: GroupKeys) -> tuple[Mask, list[Column]]:
        """See ``GroupStore``."""
        empty = self._aggregation.empty
        states = list(map(self._table.get, keys))
        there = np.fromiter((state is not None for state in states), np.bool_, len(states))
        return there, self._aggregation.columns([empty if state is None else state for state in states])

    def write(self, keys: GroupKeys, slots: Sequence[Column]) -> None:
        """See ``GroupStore``."""
        put = self._table.put
        for key, state in zip(keys, self._aggregation.states(slots), strict=True):
            if state[0] > 0:
                put(key, state)
            else:
                self._table.remove(key)
                self._aggregation.clear(key)

    def parts(self, size: int) -> Iterator[tuple[list[Any], list[Column]]]:
        """See ``GroupStore``."""
        found = ((key, state) for key, _, state in self._table.items())
        while part := list(islice(found, size)):
            yield [key for key, _ in part], self._aggregation.columns([state for _, state in part])


class ArrayGroups(GroupStore):
    """Groups as arrays, by index."""

    def __init__(self, table: Any, aggregation: Aggregation) -> None:
        self._table = table
        self._aggregation = aggregation
        self._places: defaultdict[Any, int] = defaultdict(self._new_place)
        self._free: list[int] = []
        self._next = 0
        self._keys: list[Any] = []
        self._there, self._changed = np.zeros(_FIRST_SIZE, np.bool_), np.zeros(_FIRST_SIZE, np.bool_)
        self._slots = [SlotArray(slot, _FIRST_SIZE) for slot in aggregation.slots]
        self._removed: set[Any] = set()
        self._restore()

    def _new_place(self) -> int:
        if self._free:
            return self._free.pop()
        self._next += 1
        return self._next - 1

    def keys(self, keys: list[Any]) -> GroupKeys:
        """See ``GroupStore``."""
        places = np.fromiter(map(self._places.__getitem__, keys), np.int64, len(keys))
        if self._next > len(self._keys):
            self._keys += [None] * (self._next - len(self._keys))
            if self._next > len(self._there):
                self._grow(max(self._next, 2 * len(self._there)))
        return GroupKeys(keys, places)

    def _grow(self, size: int) -> None:
        more = np.zeros(size - len(self._there), np.bool_)
        self._there, self._changed = np.concatenate([self._there, more]), np.concatenate([self._changed, more])
        for slot in self._slots:
            slot.grow(size)

    def read(self, keys: GroupKeys) -> tuple[Mask, list[Column]]:
        """See ``GroupStore``."""
        return self._there[keys.places], [slot.take(keys.places) for slot in self._slots]

    def write(self, keys: GroupKeys, slots: Sequence[Column]) -> None:
        """See ``GroupStore``."""
        places = keys.places
        for slot, column in zip(self._slots, slots, strict=True):
            slot.put(places, column)
        lives = numbers(slots[0]) > 0
        for index in np.flatnonzero(~self._there[places]).tolist():
            self._keys[places[index]] = keys[index]
        self._there[places] = lives
        self._changed[places] = True
        if not lives.all():
            self._drop([keys[index] for index in np.flatnonzero(~lives).tolist()], places[~lives])

    def _drop(self, keys: Sequence[Any], places: Places) -> None:
        self._changed[places] = False
        for slot in self._slots:
            slot.clear(places)
        for key in keys:
            del self._places[key]
            self._aggregation.clear(key)
        self._removed.update(keys)
        self._free += places.tolist()

    def parts(self, size: int) -> Iterator[tuple[list[Any], list[Column]]]:
        """See ``GroupStore``."""
        keys, places = list(self._places), np.fromiter(self._places.values(), np.int64, len(self._places))
        for start in range(0, len(keys), size):
            part = places[start : start + size]
            yield keys[start : start + size], [slot.take(part) for slot in self._slots]

    # State

    def flush(self) -> None:
        """See ``GroupStore``."""
        for key in self._removed:
            self._table.remove(key)
        self._removed = set()
        places = np.flatnonzero(self._changed)
        if len(places):
            states = self._aggregation.states([slot.take(places) for slot in self._slots])
            for place, state in zip(places.tolist(), states, strict=True):
                self._table.put(self._keys[place], state)
            self._changed[:] = False
        self._aggregation.flush(self._keys)

    def _restore(self) -> None:
        found = [(key, state) for key, _, state in self._table.items()]
        if found:
            keys = self.keys([key for key, _ in found])
            self.write(keys, self._aggregation.columns([state for _, state in found]))
            self._changed[:] = False
        self._aggregation.restore(self._places)
