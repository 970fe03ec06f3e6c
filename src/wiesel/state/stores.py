"""Internal. Entries of keyed state in dicts, with a record of what has changed since the last snapshot.

A *slot* identifies a value: the key, or the pair (key, namespace) in a store for entries with a namespace. ``changes`` holds the changes
for the next snapshot. Taking a snapshot replaces it by an empty dict; when all changed values are immutable nothing else has to be done in
the mailbox thread, and they are pickled later, in the thread that writes. Objects that the user could change meanwhile are pickled at once.

A store is also rewritten, a slice per snapshot (``begin_scan``, ``scan_slice``): once all slices are written, files from before the first
slice are no longer needed, as every slot is either in a slice or was changed since. Slices follow the changes in a file and hold whole
values: a partial change of a list or map may precede its slice, but the slice is applied last.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from wiesel.core.errors import InvariantError
from wiesel.state.changelog import APPEND, CHUNK_ENTRIES, ENTRIES, REMOVE, SET, Section
from wiesel.state.pickling import REMOVED, Pickled, freeze, immutable
from wiesel.state.snapshots import Part

_AT_ONCE_FACTOR = 4
_AT_ONCE_ENTRIES = 1 << 22
"""Number of immutable values that take about 100 ms, as only references are taken in the mailbox thread."""
_SAMPLE = 1000

__all__ = ["ListStore", "MapStore", "Store", "ValueStore"]


class Store(ABC):
    """Entries of one state name, either all with or all without a namespace.

    Attributes:
        data: slot -> value.
        changes: slot -> its change, see the subclasses; replaced by every snapshot.
        prune: Returns the part of a value that has not expired, None if nothing is left; None if values do not expire.
    """

    __slots__ = ("_scan", "changes", "data", "name", "prune", "spaced")

    def __init__(self, name: str, spaced: bool) -> None:
        self.name = name
        self.spaced = spaced
        self.data: dict[Any, Any] = {}
        self.changes: dict[Any, Any] = {}
        self.prune: Callable[[Any], Any] | None = None
        self._scan: list[Any] | None = None

    @property
    def changed(self) -> int:
        """Number of entries that the next snapshot has to write."""
        return len(self.changes)

    def unchanged(self) -> None:
        """Mark all entries as unchanged."""
        self.changes = {}

    def clear(self) -> None:
        """Remove all entries without recording changes."""
        self.data.clear()
        self.changes.clear()

    @abstractmethod
    def put(self, slot: Any, value: Any) -> None:
        """Set the whole value of an entry."""

    def remove(self, slot: Any) -> None:
        """Remove an entry if there is one."""
        # Not pop: on an empty dict it does not hash, so a missing key would go unnoticed.
        if slot in self.data:
            del self.data[slot]
            self.changes[slot] = REMOVED

    @abstractmethod
    def freeze(self) -> Part:
        """Return the changes since the last snapshot and start a new set of changes."""

    @abstractmethod
    def _leaves(self, values: Iterable[Any]) -> Iterable[Any]:
        """Return all user objects inside whole values (which are not None)."""

    @abstractmethod
    def _copy(self, values: list[Any]) -> list[Any]:
        """Return copies of whole values that stay valid while the store changes, if their leaves are immutable."""

    def begin_scan(self) -> None:
        """Begin to rewrite all entries, by ``scan_slice``."""
        self._scan = list(self.data)

    @property
    def scanning(self) -> bool:
        """True if slices are left."""
        return self._scan is not None

    def scan_slice(self, limit: int) -> tuple[int, Part]:
        """Return the number of entries and the sections of the next slice, of at most ``limit`` entries."""
        if self._scan is None:
            return 0, tuple
        if self._scan_at_once(limit):
            self._scan = None
            return len(self.data), self.all_parts()
        chosen = self._scan[-limit:]
        del self._scan[-limit:]
        if not self._scan:
            self._scan = None
        values = list(map(self.data.get, chosen))
        if any(value is None for value in values):  # removed since the scan began
            chosen = [slot for slot, value in zip(chosen, values, strict=True) if value is not None]
            values = [value for value in values if value is not None]
        return len(chosen), self._whole(chosen, values)

    def _scan_at_once(self, limit: int) -> bool:
        """Return whether all entries are written in one slice: iterating in order is several times faster than lookups."""
        count = len(self.data)
        if self._scan is None or len(self._scan) < count:
            return False
        if count <= _AT_ONCE_FACTOR * limit:
            return True
        return count <= _AT_ONCE_ENTRIES and immutable(list(self._leaves(islice(self.data.values(), _SAMPLE))))

    def all_parts(self) -> Part:
        """Return all entries, independent of the tracked changes."""
        return self._whole(list(self.data), list(self.data.values()))

    def _whole(self, slots: list[Any], values: list[Any]) -> Part:
        if self.prune is not None:
            left = [(slot, rest) for slot, value in zip(slots, values, strict=True) if (rest := self.prune(value)) is not None]
            slots, values = [slot for slot, _ in left], [rest for _, rest in left]
        if immutable(self._leaves(values)):
            values = self._copy(values)
            return lambda: self._encode(SET, slots, values, settled=True)
        chunks = self._freeze_column(values)
        return lambda: self._encode(SET, slots, chunks)

    def _freeze_column(self, values: list[Any]) -> list[Pickled]:
        """Pickle a column now, in the chunks in which ``_encode`` writes it."""
        return [freeze(values[i : i + CHUNK_ENTRIES], f"state {self.name!r}") for i in range(0, len(values), CHUNK_ENTRIES)]

    def _encode(self, operation: int, slots: list[Any], *columns: list[Any], settled: bool = False) -> Iterator[Section]:
        """Yield sections; a column is a list as long as ``slots``, or comes from ``_freeze_column``."""
        for number, start in enumerate(range(0, len(slots), CHUNK_ENTRIES)):
            part = slice(start, start + CHUNK_ENTRIES)
            some = slots[part]
            keys, namespaces = ([slot[0] for slot in some], [slot[1] for slot in some]) if self.spaced else (some, None)
            values = (column[number] if isinstance(column[0], Pickled) else column[part] for column in columns)
            yield Section(operation, self.name, len(keys), (keys, namespaces, *values), spaced=self.spaced, settled=settled)

    def apply(self, section: Section, keep: Callable[[Any], bool] | None) -> None:
        """Apply a section of a state file; ``keep`` selects the keys of this subtask."""
        keys, namespaces, *columns = section.columns
        if keep is not None:
            chosen = [i for i, key in enumerate(keys) if keep(key)]
            keys = [keys[i] for i in chosen]
            namespaces = None if namespaces is None else [namespaces[i] for i in chosen]
            columns = [[column[i] for i in chosen] for column in columns]
        slots = keys if namespaces is None else list(zip(keys, namespaces, strict=True))
        if section.singly and columns:
            columns[-1] = [self._decode(value) for value in columns[-1]]
        if section.operation == SET:
            self.data.update(zip(slots, columns[0], strict=True))
        elif section.operation == REMOVE:
            for slot in slots:
                self.data.pop(slot, None)
        else:
            self._apply_parts(section.operation, slots, columns)

    def _decode(self, value: Any) -> Any:
        """Decode a value written by a store that pickles values one by one."""
        return pickle.loads(value)

    def _apply_parts(self, operation: int, slots: Sequence[Any], columns: Sequence[Sequence[Any]]) -> None:
        raise InvariantError(f"operation {operation} does not fit state {self.name!r}")


def _removed(changes: dict[Any, Any]) -> list[Any]:
    # Usually there are none, and checking the types takes a quarter of the time.
    if type(REMOVED) not in set(map(type, changes.values())):
        return []
    return [slot for slot, change in changes.items() if change is REMOVED]


class ValueStore(Store):
    """One value per slot. A change is the new value itself."""

    __slots__ = ()

    def put(self, slot: Any, value: Any) -> None:
        """See ``Store``."""
        self.data[slot] = self.changes[slot] = value

    def freeze(self) -> Part:
        """See ``Store``."""
        changes, self.changes = self.changes, {}
        if not changes:
            return tuple
        # The types are checked once: the values are many and scattered in memory, so this dominates the cost of a snapshot in the mailbox.
        kinds = set(map(type, changes.values()))
        some_removed = type(REMOVED) in kinds
        if immutable(changes.values(), kinds):
            return lambda: self._sections(changes, some_removed)
        removed = _removed(changes)
        for slot in removed:
            del changes[slot]
        slots, chunks = list(changes), self._freeze_column(list(changes.values()))
        return lambda: chain(self._encode(REMOVE, removed), self._encode(SET, slots, chunks))

    def _sections(self, changes: dict[Any, Any], some_removed: bool) -> Iterator[Section]:
        if some_removed:
            yield from self._encode(REMOVE, _removed(changes))
            changes = {slot: value for slot, value in changes.items() if value is not REMOVED}
        yield from self._encode(SET, list(changes), list(changes.values()), settled=True)

    def _leaves(self, values: Iterable[Any]) -> Iterable[Any]:
        return values

    def _copy(self, values: list[Any]) -> list[Any]:
        return values


class ListStore(Store):
    """A list per slot. A change is the number of elements in the last snapshot; 0: the list is new."""

    __slots__ = ()

    def append(self, slot: Any, value: Any) -> None:
        """Add an element."""
        elements = self.data.get(slot)
        if elements is None:
            self.data[slot] = [value]
            self.changes[slot] = 0
            return
        if slot not in self.changes:
            self.changes[slot] = len(elements)
        elements.append(value)

    def extend(self, slot: Any, values: Iterable[Any]) -> None:
        """Append elements; no list is created if there are none."""
        values = list(values)
        if not values:
            return
        elements = self.data.get(slot)
        if elements is None:
            self.put(slot, values)
            return
        if slot not in self.changes:
            self.changes[slot] = len(elements)
        elements.extend(values)

    def put(self, slot: Any, values: list[Any]) -> None:
        """See ``Store``."""
        self.data[slot] = values
        self.changes[slot] = 0

    def freeze(self) -> Part:
        """See ``Store``."""
        changes, self.changes = self.changes, {}
        if not changes:
            return tuple
        data = self.data
        grown = [(slot, start) for slot, start in changes.items() if start is not REMOVED]
        tails = [data[slot][start:] for slot, start in grown]
        column = tails if immutable(chain.from_iterable(tails)) else self._freeze_column(tails)
        slots, starts = [slot for slot, _ in grown], [start for _, start in grown]
        return lambda: chain(self._encode(REMOVE, _removed(changes)), self._encode(APPEND, slots, starts, column))

    def _leaves(self, values: Iterable[Any]) -> Iterable[Any]:
        return chain.from_iterable(values)

    def _copy(self, values: list[Any]) -> list[Any]:
        return [value.copy() for value in values]

    def _apply_parts(self, operation: int, slots: Sequence[Any], columns: Sequence[Sequence[Any]]) -> None:
        if operation != APPEND:
            super()._apply_parts(operation, slots, columns)
        data = self.data
        for slot, start, tail in zip(slots, *columns, strict=True):
            if start == 0:
                data[slot] = tail
            elif start < 0:
                data.setdefault(slot, []).extend(tail)
            else:
                # Truncate first: applied to a list that already has the elements, it changes nothing.
                data.setdefault(slot, [])[start:] = tail


class MapStore(Store):
    """A map per slot. A change is a dict map key -> value or ``REMOVED``; the map key ``REMOVED`` stands for all earlier entries."""

    __slots__ = ()

    def put_entry(self, slot: Any, map_key: Any, value: Any) -> None:
        """Set one entry of a map."""
        entries = self.data.get(slot)
        if entries is None:
            entries = self.data[slot] = {}
        entries[map_key] = value
        changed = self.changes.get(slot)
        if changed is None:
            changed = self.changes[slot] = {}
        changed[map_key] = value

    def put_entries(self, slot: Any, entries: Mapping[Any, Any]) -> None:
        """Set several entries of a map."""
        for kept in (self.data, self.changes):
            kept.setdefault(slot, {}).update(entries)

    def remove_entry(self, slot: Any, map_key: Any) -> None:
        """Remove an entry of a map if it exists; a map without entries is removed."""
        entries = self.data.get(slot)
        if entries is None or map_key not in entries:
            return
        del entries[map_key]
        if not entries:
            self.remove(slot)
            return
        changed = self.changes.get(slot)
        if changed is None:
            changed = self.changes[slot] = {}
        changed[map_key] = REMOVED

    def put(self, slot: Any, entries: dict[Any, Any]) -> None:
        """See ``Store``."""
        self.data[slot] = entries
        self.changes[slot] = {REMOVED: REMOVED, **entries}

    def remove(self, slot: Any) -> None:
        """See ``Store``."""
        if slot in self.data:
            del self.data[slot]
            self.changes[slot] = {REMOVED: REMOVED}

    def freeze(self) -> Part:
        """See ``Store``."""
        changes, self.changes = self.changes, {}
        if not changes:
            return tuple
        slots, keys, values = [], [], []
        cleared = [slot for slot, changed in changes.items() if REMOVED in changed]
        for slot, changed in changes.items():
            # A cleared map has the marker as its first key; the following entries were put afterwards.
            first = 1 if REMOVED in changed else 0
            if len(changed) > first:
                slots.append(slot)
                keys.append(list(changed)[first:])
                values.append(list(changed.values())[first:])
        column = values if immutable(chain.from_iterable(values)) else self._freeze_column(values)
        return lambda: chain(self._encode(REMOVE, cleared), self._encode(ENTRIES, slots, keys, column))

    def _leaves(self, values: Iterable[Any]) -> Iterable[Any]:
        return chain.from_iterable(map(dict.values, values))

    def _copy(self, values: list[Any]) -> list[Any]:
        return [value.copy() for value in values]

    def _decode(self, value: Any) -> Any:
        return [part if part is REMOVED else pickle.loads(part) for part in value]

    def _apply_parts(self, operation: int, slots: Sequence[Any], columns: Sequence[Sequence[Any]]) -> None:
        if operation != ENTRIES:
            super()._apply_parts(operation, slots, columns)
        data = self.data
        for slot, keys, values in zip(slots, *columns, strict=True):
            entries = data.setdefault(slot, {})
            entries.update(zip(keys, values, strict=True))
            for key in [key for key, value in zip(keys, values, strict=True) if value is REMOVED]:
                del entries[key]
            if not entries:
                del data[slot]
