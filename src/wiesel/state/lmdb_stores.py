"""Internal. Keyed state on disk with a cache of objects in front.

Writes go to the cache and to ``pending``; a flush writes all pending changes to LMDB in one sorted transaction and passes the same bytes to
the changelog. Flushes happen at snapshots and when the cache is full. The cache has two generations: an entry found in the old one moves to
the young one, and when the young one is full the old one is dropped. So a hit costs a dict lookup, and entries in use are retained.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from wiesel.core.errors import InvariantError
from wiesel.state.changelog import APPEND, ENTRIES, REMOVE, SET, Section
from wiesel.state.disk_environment import DiskEnvironment
from wiesel.state.lmdb_keys import SlotCodec, decode_slot, decode_value, dump_one, map_key_bytes, plain_integers, slot_end, value_payload
from wiesel.state.pickling import REMOVED

__all__ = ["DiskListStore", "DiskMapStore", "DiskStore", "DiskValueStore", "Flush"]

_KEY, _STORED = itemgetter(0), itemgetter(1)
_FLUSH_ENTRIES = 1 << 14
_FIRST_LIMIT = 1 << 15
_MANY_PIECES = 8


@dataclass
class Flush:
    """Changes on their way to LMDB and to the changelog."""

    removed: list[bytes] = field(default_factory=list)
    removed_prefixes: list[bytes] = field(default_factory=list)
    entries: list[tuple[bytes, bytes]] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)


class DiskStore(ABC):
    """Entries of one state name, either all with or all without a namespace.

    Attributes:
        pending: Changes since the last flush.
        young: Recently used entries.
        old: Entries used before those.
        limit: The weight at which the cache is full; set by the backend.
        prune: Returns the part of a value that has not expired, None if nothing is left; None if values do not expire.
    """

    def __init__(self, name: str, spaced: bool, codec: SlotCodec, environment: DiskEnvironment, next_number: Callable[[], int]) -> None:
        self.name = name
        self.spaced = spaced
        self.codec = codec
        self.environment = environment
        self.next_number = next_number
        self.prune: Callable[[Any], Any] | None = None
        self.pending: dict[Any, Any] = {}
        self.young: dict[Any, Any] = {}
        self.old: dict[Any, Any] = {}
        self.limit = _FIRST_LIMIT

    @abstractmethod
    def flush(self, out: Flush) -> None:
        """Move all pending changes to ``out``."""

    @abstractmethod
    def whole(self, slots: Sequence[Any], values: Sequence[Any], singly: bool, out: Flush) -> None:
        """Set whole values read from a state file."""

    @abstractmethod
    def read_section(self, entries: list[tuple[bytes, bytes]], begun: list[bytes]) -> Section | None:
        """Return the section for entries as stored in LMDB; None if all have expired.

        Args:
            entries: Keys and stored values, in order.
            begun: State carried from one call to the next of a scan.
        """

    def weight(self) -> int:
        """Return the number of objects in the young generation."""
        return len(self.young)

    def age(self) -> None:
        """Start a new generation; nothing may be pending."""
        self.old, self.young = self.young, {}

    def slot_of(self, key: bytes, stored: bytes) -> Any:
        """Return the slot of an entry in LMDB."""
        return decode_slot(key, stored)[0]

    def _columns(self, slots: Sequence[Any]) -> tuple[list[Any], list[Any] | None]:
        if self.spaced:
            return [slot[0] for slot in slots], [slot[1] for slot in slots]
        return list(slots), None

    def _section(self, operation: int, slots: Sequence[Any], *columns: list[Any]) -> Section:
        return Section(operation, self.name, len(slots), (*self._columns(slots), *columns), spaced=self.spaced, singly=True)

    def _add_section(self, out: Flush, operation: int, slots: list[Any], *columns: list[Any]) -> None:
        for start in range(0, len(slots), _FLUSH_ENTRIES):
            part = slice(start, start + _FLUSH_ENTRIES)
            out.sections.append(self._section(operation, slots[part], *(column[part] for column in columns)))

    def apply(self, section: Section, keep: Callable[[Any], bool] | None, out: Flush) -> None:
        """Apply a section of a state file."""
        keys, namespaces, *columns = section.columns
        if keep is not None:
            chosen = [i for i, key in enumerate(keys) if keep(key)]
            keys = [keys[i] for i in chosen]
            namespaces = None if namespaces is None else [namespaces[i] for i in chosen]
            columns = [[column[i] for i in chosen] for column in columns]
        slots = keys if namespaces is None else list(zip(keys, namespaces, strict=True))
        if section.operation == SET:
            self.whole(slots, columns[0], section.singly, out)
        elif section.operation == REMOVE:
            self._remove_all(slots, out)
        else:
            self._apply_parts(section.operation, slots, columns, section.singly, out)

    def _remove_all(self, slots: Sequence[Any], out: Flush) -> None:
        out.removed_prefixes.extend(map(self.codec.prefix, slots))

    def _apply_parts(self, operation: int, slots: Sequence[Any], columns: list[Any], singly: bool, out: Flush) -> None:
        raise InvariantError(f"operation {operation} does not fit state {self.name!r}")


class DiskValueStore(DiskStore):
    """One value per slot. ``pending`` and the cache: slot -> value, or ``REMOVED`` (also for "there is none")."""

    def load(self, slot: Any) -> Any:
        """Return the value of a slot that is not in the young generation."""
        value = self.old.pop(slot, None)
        if value is None:
            stored = self.environment.get(self.codec.prefix(slot))
            value = REMOVED if stored is None else decode_value(stored)
        self.young[slot] = value
        return value

    def flush(self, out: Flush) -> None:
        """See ``DiskStore``."""
        pending, self.pending = self.pending, {}
        removed, slots, values = [], [], []
        for slot, value in pending.items():
            if value is REMOVED:
                removed.append(slot)
            else:
                slots.append(slot)
                values.append(dump_one(value))
        self._remove_all(removed, out)
        out.entries.extend(self.codec.entries(slots, values))
        self._add_section(out, REMOVE, removed)
        self._add_section(out, SET, slots, values)

    def whole(self, slots: Sequence[Any], values: Sequence[Any], singly: bool, out: Flush) -> None:
        """See ``DiskStore``."""
        out.entries.extend(self.codec.entries(slots, values if singly else list(map(dump_one, values))))

    def _remove_all(self, slots: Sequence[Any], out: Flush) -> None:
        out.removed.extend(map(self.codec.prefix, slots))

    def read_section(self, entries: list[tuple[bytes, bytes]], begun: list[bytes]) -> Section | None:
        """See ``DiskStore``."""
        if self.prune is not None:
            entries = [(key, stored) for key, stored in entries if self.prune(decode_value(stored)) is not None]
        if not entries:
            return None
        keys, stored = list(map(_KEY, entries)), list(map(_STORED, entries))
        numbers = plain_integers(keys, stored)
        if numbers is not None:
            return self._section(SET, numbers, [value[1:] for value in stored])
        return self._section(SET, list(map(self.slot_of, keys, stored)), list(map(value_payload, stored)))


class DiskListStore(DiskStore):
    """A list per slot, stored on disk in chunks: appending needs no read.

    ``pending``: slot -> [True if the list begins with these, elements], or ``REMOVED``. The cache: slot -> the whole list.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._elements = 0

    def append(self, slot: Any, values: list[Any]) -> None:
        """Append elements; takes ownership of the list."""
        self._elements += len(values)
        known = self.young.get(slot)
        if known is None:
            known = self.old.pop(slot, None)
            if known is not None:
                self.young[slot] = known
        if known is not None:
            known.extend(values)
        waiting = self.pending.get(slot)
        if waiting is None:
            self.pending[slot] = [False, values]
        elif waiting is REMOVED:
            self.pending[slot] = [True, values]
        else:
            waiting[1].extend(values)

    def put(self, slot: Any, values: list[Any]) -> None:
        """Set the list; an empty one removes it."""
        if not values:
            self.remove(slot)
            return
        self.old.pop(slot, None)
        self._elements += len(values)
        self.young[slot] = values
        self.pending[slot] = [True, values.copy()]

    def remove(self, slot: Any) -> None:
        """Remove the list."""
        self.old.pop(slot, None)
        self.young[slot] = []
        self.pending[slot] = REMOVED

    def get(self, slot: Any) -> list[Any] | None:
        """Return the list, or None."""
        known = self.young.get(slot)
        if known is None:
            known = self.old.pop(slot, None)
            if known is None:
                known = self._load(slot)
            self._elements += len(known)
            self.young[slot] = known
        return known or None

    def _load(self, slot: Any) -> list[Any]:
        waiting = self.pending.get(slot)
        if waiting is REMOVED:
            return []
        if waiting is not None and waiting[0]:
            return list(waiting[1])
        prefix = self.codec.prefix(slot)
        elements: list[Any] = []
        keys: list[bytes] = []
        for key, stored in _under(self.environment, prefix):
            elements.extend(decode_value(stored))
            keys.append(key)
        if len(keys) > _MANY_PIECES:
            # Read as one chunk the next time. The changelog is not affected.
            self.environment.write(keys, (), [(self._piece_key(prefix), self.codec.encode(slot) + dump_one(elements))])
        return elements if waiting is None else elements + waiting[1]

    def _piece_key(self, prefix: bytes) -> bytes:
        return prefix + self.next_number().to_bytes(8, "big")

    def weight(self) -> int:
        """See ``DiskStore``."""
        return len(self.young) + self._elements

    def age(self) -> None:
        """See ``DiskStore``."""
        super().age()
        self._elements = 0

    def flush(self, out: Flush) -> None:
        """See ``DiskStore``."""
        pending, self.pending = self.pending, {}
        removed, slots, starts, tails = [], [], [], []
        for slot, waiting in pending.items():
            prefix = self.codec.prefix(slot)
            if waiting is REMOVED:
                removed.append(slot)
                out.removed_prefixes.append(prefix)
                continue
            new, elements = waiting
            if new:
                out.removed_prefixes.append(prefix)
            data = dump_one(elements)
            out.entries.append((self._piece_key(prefix), self.codec.encode(slot) + data))
            slots.append(slot)
            starts.append(0 if new else -1)
            tails.append(data)
        self._add_section(out, REMOVE, removed)
        self._add_section(out, APPEND, slots, starts, tails)

    def whole(self, slots: Sequence[Any], values: Sequence[Any], singly: bool, out: Flush) -> None:
        """See ``DiskStore``."""
        for slot, value in zip(slots, values, strict=True):
            prefix = self.codec.prefix(slot)
            out.removed_prefixes.append(prefix)
            out.entries.append((self._piece_key(prefix), self.codec.encode(slot) + (value if singly else dump_one(value))))

    def _apply_parts(self, operation: int, slots: Sequence[Any], columns: list[Any], singly: bool, out: Flush) -> None:
        if operation != APPEND:
            super()._apply_parts(operation, slots, columns, singly, out)
        for slot, start, tail in zip(slots, *columns, strict=True):
            prefix = self.codec.prefix(slot)
            if start == 0:
                out.removed_prefixes.append(prefix)
            out.entries.append((self._piece_key(prefix), self.codec.encode(slot) + (tail if singly else dump_one(tail))))

    def read_section(self, entries: list[tuple[bytes, bytes]], begun: list[bytes]) -> Section | None:
        """See ``DiskStore``: chunks in order, the first of a list with the start 0; ``begun`` holds the prefix of the last list."""
        slots, starts, tails = [], [], []
        for key, stored in entries:
            data = value_payload(stored)
            if self.prune is not None:
                left = self.prune(decode_value(stored))
                if left is None:
                    continue
                data = dump_one(left)
            prefix = key[:-8]
            slots.append(self.slot_of(key, stored))
            starts.append(-1 if begun == [prefix] else 0)
            tails.append(data)
            begun[:] = [prefix]
        return self._section(APPEND, slots, starts, tails) if slots else None


class DiskMapStore(DiskStore):
    """A map per slot, stored on disk as one entry per map key.

    ``pending``: slot -> {map key: value or ``REMOVED``}, with the map key ``REMOVED`` first if all earlier entries are removed. The cache:
    slot -> {map key: value or ``REMOVED`` for "does not exist"}.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._cached = 0

    def weight(self) -> int:
        """See ``DiskStore``."""
        return self._cached

    def age(self) -> None:
        """See ``DiskStore``."""
        super().age()
        self._cached = 0

    def _remember(self, slot: Any, map_key: Any, value: Any) -> None:
        entries = self.young.get(slot)
        if entries is None:
            entries = self.young[slot] = {}
        if map_key not in entries:
            self._cached += 1
        entries[map_key] = value

    def _change(self, slot: Any, map_key: Any, value: Any) -> None:
        self._remember(slot, map_key, value)
        changed = self.pending.get(slot)
        if changed is None:
            changed = self.pending[slot] = {}
        changed[map_key] = value

    def get_entry(self, slot: Any, map_key: Any) -> Any:
        """Return the value of an entry, ``REMOVED`` if there is none."""
        entries = self.young.get(slot)
        value = None if entries is None else entries.get(map_key)
        if value is not None:
            return value
        if entries is not None and map_key in entries:
            return None
        value = self._find(slot, map_key)
        self._remember(slot, map_key, value)
        return value

    def _find(self, slot: Any, map_key: Any) -> Any:
        changed = self.pending.get(slot)
        if changed is not None:
            if map_key in changed:
                return changed[map_key]
            if REMOVED in changed:
                return REMOVED
        entries = self.old.get(slot)
        if entries is not None and map_key in entries:
            return entries[map_key]
        stored = self.environment.get(self.codec.prefix(slot) + map_key_bytes(map_key))
        return REMOVED if stored is None else decode_value(stored)

    def put_entry(self, slot: Any, map_key: Any, value: Any) -> None:
        """Set an entry."""
        self._change(slot, map_key, value)

    def remove_entry(self, slot: Any, map_key: Any) -> None:
        """Remove an entry if there is one."""
        if self.get_entry(slot, map_key) is not REMOVED:
            self._change(slot, map_key, REMOVED)

    def remove(self, slot: Any) -> None:
        """Remove a map."""
        self.old.pop(slot, None)
        dropped = self.young.pop(slot, None)
        self._cached -= 0 if dropped is None else len(dropped)
        self.pending[slot] = {REMOVED: REMOVED}

    def entries(self, slot: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries; those on disk are read in chunks."""
        before = dict(self.pending.get(slot, ()))
        if REMOVED not in before:
            for key, stored in _under(self.environment, self.codec.prefix(slot)):
                map_key = decode_slot(key, stored)[1]
                if map_key in before:
                    continue
                changed = self.pending.get(slot)
                value = None if changed is None else changed.get(map_key)
                if value is REMOVED or (changed is not None and REMOVED in changed):
                    continue
                yield map_key, decode_value(stored) if value is None else value
        for map_key, value in before.items():
            if value is not REMOVED:
                yield map_key, value

    def flush(self, out: Flush) -> None:
        """See ``DiskStore``."""
        pending, self.pending = self.pending, {}
        cleared, slots, keys, values = [], [], [], []
        for slot, changed in pending.items():
            prefix = self.codec.prefix(slot)
            if REMOVED in changed:
                cleared.append(slot)
                out.removed_prefixes.append(prefix)
                del changed[REMOVED]
            if not changed:
                continue
            encoded = []
            for map_key, value in changed.items():
                key = prefix + map_key_bytes(map_key)
                if value is REMOVED:
                    out.removed.append(key)
                    encoded.append(REMOVED)
                else:
                    data = dump_one(value)
                    out.entries.append((key, self.codec.encode(slot, map_key) + data))
                    encoded.append(data)
            slots.append(slot)
            keys.append(list(changed))
            values.append(encoded)
        self._add_section(out, REMOVE, cleared)
        self._add_section(out, ENTRIES, slots, keys, values)

    def whole(self, slots: Sequence[Any], values: Sequence[Any], singly: bool, out: Flush) -> None:
        """See ``DiskStore``."""
        for slot, entries in zip(slots, values, strict=True):
            prefix = self.codec.prefix(slot)
            out.removed_prefixes.append(prefix)
            for map_key, value in entries.items():
                head = self.codec.encode(slot, map_key)
                out.entries.append((prefix + map_key_bytes(map_key), head + (value if singly else dump_one(value))))

    def _apply_parts(self, operation: int, slots: Sequence[Any], columns: list[Any], singly: bool, out: Flush) -> None:
        if operation != ENTRIES:
            super()._apply_parts(operation, slots, columns, singly, out)
        for slot, keys, values in zip(slots, *columns, strict=True):
            prefix = self.codec.prefix(slot)
            for map_key, value in zip(keys, values, strict=True):
                key = prefix + map_key_bytes(map_key)
                if value is REMOVED:
                    out.removed.append(key)
                else:
                    out.entries.append((key, self.codec.encode(slot, map_key) + (value if singly else dump_one(value))))

    def read_section(self, entries: list[tuple[bytes, bytes]], begun: list[bytes]) -> Section | None:
        """See ``DiskStore``."""
        by_slot: dict[bytes, tuple[Any, list[Any], list[bytes]]] = {}
        for key, stored in entries:
            data = value_payload(stored)
            slot, map_key = decode_slot(key, stored)
            if self.prune is not None:
                left = self.prune({map_key: decode_value(stored)})
                if left is None:
                    continue
            end = slot_end(key)
            found = by_slot.get(key[:end])
            if found is None:
                found = by_slot[key[:end]] = (slot, [], [])
            found[1].append(map_key)
            found[2].append(data)
        if not by_slot:
            return None
        slots, keys, values = (list(column) for column in zip(*by_slot.values(), strict=True))
        return self._section(ENTRIES, slots, keys, values)


def _under(environment: DiskEnvironment, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Iterate over the entries whose keys begin with ``prefix``, reading the current contents chunk by chunk."""
    stop = _after(prefix)
    for chunk in environment.live().chunks(prefix, stop):
        yield from chunk


def _after(prefix: bytes) -> bytes | None:
    """Return the smallest key that is larger than all keys with this prefix."""
    cut = prefix.rstrip(b"\xff")
    return cut[:-1] + bytes([cut[-1] + 1]) if cut else None
