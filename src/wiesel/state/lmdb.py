"""Internal. The ``lmdb`` backend: keyed state on the local disk, larger than memory, with a cache of objects in front.

Timers and operator state are in memory. A full snapshot is read from an LMDB read transaction in the thread that writes it, while
processing continues. As with the ``hashmap`` backend, an object that was read and changed in place has to be put again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from wiesel.core.config import ConfigOption
from wiesel.core.memory_size import MemorySize
from wiesel.core.options import LMDB_CACHE_SIZE, LMDB_MAP_SIZE, LMDB_RESIDENT_SIZE
from wiesel.state.backend import VOID, KeyedTable, ListTable, MapTable
from wiesel.state.changelog import Section
from wiesel.state.disk_environment import DiskEnvironment, DiskSnapshot
from wiesel.state.lmdb_env import LmdbEnvironment
from wiesel.state.lmdb_keys import SlotCodec, range_after, range_of, slot_end, state_id_of
from wiesel.state.lmdb_stores import DiskListStore, DiskMapStore, DiskStore, DiskValueStore, Flush
from wiesel.state.paged_buffer import PagedBuffer
from wiesel.state.pickling import REMOVED
from wiesel.state.snapshots import Part
from wiesel.state.spool import Spool
from wiesel.state.tracked import TrackedBackend

__all__ = ["TABLES", "LmdbBackend", "Scan"]

_SPOOL_SHARE = 16
"""Divisor of the cache size: extra memory for changes that wait for the next snapshot; further changes wait in a file."""
_SPOOL_BYTES = 4 << 20
_MOST_SPOOLED = 2
"""Ratio of pending changes to all state at which a full snapshot replaces them, where snapshots are rare or never taken."""
_SCAN_ENTRIES = 1 << 14
_SCAN_BYTES = 4 << 20
_OBJECT_OVERHEAD_BYTES = 500
_SMALLEST_LIMIT = 1 << 10
_MOST_PENDING = 1 << 14
"""Limit of pending changes: they are flushed in the synchronous part of a snapshot, at about 3 us per entry."""
_STORED = itemgetter(1)


class _DiskTable(KeyedTable):
    """Entries without a namespace in ``void``, the others in ``spaced``."""

    storage: str
    store_type: type[DiskStore]

    def __init__(self, backend: LmdbBackend, make: Callable[[bool], Any]) -> None:
        self._backend = backend
        self.void = make(False)
        self.spaced = make(True)

    def _at(self, key: Any, namespace: Any) -> tuple[Any, Any]:
        return (self.void, key) if namespace is VOID else (self.spaced, (key, namespace))

    def _check(self, store: DiskStore) -> None:
        if store.weight() > store.limit or len(store.pending) > _MOST_PENDING:
            self._backend.make_room()

    def items(self) -> Iterator[tuple[Any, Any, Any]]:
        """See ``KeyedTable``."""
        self._backend.flush()
        for key, namespace in self._on_disk():
            value = self.get(key, namespace)
            if value is not None:
                yield key, namespace, value

    def scan(self) -> Iterator[tuple[Any, Any]]:
        """See ``KeyedTable``."""
        yield from self._on_disk()
        for key in list(self.void.pending):
            yield key, VOID
        yield from list(self.spaced.pending)

    def _on_disk(self) -> Iterator[tuple[Any, Any]]:
        for slot in self._backend.slots(self.void):
            yield slot, VOID
        yield from self._backend.slots(self.spaced)

    def __len__(self) -> int:
        self._backend.flush()
        return sum(1 for _ in self._on_disk())


class _ValueTable(_DiskTable):
    """Values."""

    storage = "value"
    store_type = DiskValueStore

    def get(self, key: Any, namespace: Any = VOID) -> Any:
        """See ``KeyedTable``."""
        if namespace is VOID:
            store = self.void
        else:
            store = self.spaced
            key = (key, namespace)
        value = store.young.get(key)
        if value is None:
            value = store.load(key)
            if len(store.young) > store.limit:
                self._backend.make_room()
        return None if value is REMOVED else value

    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        if namespace is VOID:
            store = self.void
        else:
            store = self.spaced
            key = (key, namespace)
        store.young[key] = store.pending[key] = value
        if len(store.young) > store.limit or len(store.pending) > _MOST_PENDING:
            self._backend.make_room()

    def remove(self, key: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        if self.get(key, namespace) is not None:
            self.put(key, REMOVED, namespace)


class _DiskListTable(_DiskTable, ListTable):
    """Lists."""

    storage = "list"
    store_type = DiskListStore

    def get(self, key: Any, namespace: Any = VOID) -> Any:
        """See ``KeyedTable``."""
        store, slot = self._at(key, namespace)
        elements = store.get(slot)
        self._check(store)
        return elements

    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        store, slot = self._at(key, namespace)
        store.put(slot, value)
        self._check(store)

    def remove(self, key: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        store, slot = self._at(key, namespace)
        store.remove(slot)
        self._check(store)

    def append(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``ListTable``."""
        store, slot = self._at(key, namespace)
        store.append(slot, [value])
        self._check(store)

    def extend(self, key: Any, values: Iterable[Any], namespace: Any = VOID) -> None:
        """See ``ListTable``."""
        values = list(values)
        if values:
            store, slot = self._at(key, namespace)
            store.append(slot, values)
            self._check(store)


class _DiskMapTable(_DiskTable, MapTable):
    """Maps."""

    storage = "map"
    store_type = DiskMapStore

    def get(self, key: Any, namespace: Any = VOID) -> Any:
        """See ``KeyedTable``."""
        return dict(self.entries(key, namespace)) or None

    def put(self, key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        store, slot = self._at(key, namespace)
        store.remove(slot)
        for map_key, element in value.items():
            store.put_entry(slot, map_key, element)
        self._check(store)

    def remove(self, key: Any, namespace: Any = VOID) -> None:
        """See ``KeyedTable``."""
        store, slot = self._at(key, namespace)
        store.remove(slot)

    def get_entry(self, key: Any, map_key: Any, namespace: Any = VOID) -> Any:
        """See ``MapTable``."""
        store, slot = self._at(key, namespace)
        value = store.get_entry(slot, map_key)
        self._check(store)
        return None if value is REMOVED else value

    def put_entry(self, key: Any, map_key: Any, value: Any, namespace: Any = VOID) -> None:
        """See ``MapTable``."""
        store, slot = self._at(key, namespace)
        store.put_entry(slot, map_key, value)
        self._check(store)

    def remove_entry(self, key: Any, map_key: Any, namespace: Any = VOID) -> None:
        """See ``MapTable``."""
        store, slot = self._at(key, namespace)
        store.remove_entry(slot, map_key)
        self._check(store)

    def entries(self, key: Any, namespace: Any = VOID) -> Iterator[tuple[Any, Any]]:
        """See ``MapTable``."""
        store, slot = self._at(key, namespace)
        return store.entries(slot)  # type: ignore[no-any-return]

    def has_entries(self, key: Any, namespace: Any = VOID) -> bool:
        """See ``MapTable``."""
        return any(True for _ in self.entries(key, namespace))


TABLES: dict[str, type[_DiskTable]] = {"value": _ValueTable, "list": _DiskListTable, "map": _DiskMapTable}
"""Kind of storage -> its tables."""


class Scan:
    """All entries at one moment as sections, read in the thread that writes them.

    Args:
        snapshot: The entries.
        stores: State id -> reader of entries of that state.
        environment: Releases memory periodically.
    """

    def __init__(self, snapshot: DiskSnapshot, stores: dict[int, DiskStore], environment: DiskEnvironment) -> None:
        self._snapshot = snapshot
        self._stores = stores
        self._environment = environment

    def __call__(self) -> Iterator[Section]:
        return self.sections()

    def sections(self, start: bytes = b"", stop: bytes | None = None) -> Iterator[Section]:
        """Yield sections with the entries from key ``start`` on, as long as the key is below ``stop``."""
        waiting: dict[int, Section] = {}
        begun: dict[int, list[bytes]] = {}
        size = count = 0
        for chunk in self._snapshot.chunks(start, stop):
            # Chunk by chunk, as the entries just read are in the processor's caches; gathering them first would take twice as long.
            for state_id, entries in _by_state(chunk):
                section = self._stores[state_id].read_section(entries, begun.setdefault(state_id, []))
                if section is not None and (known := waiting.setdefault(state_id, section)) is not section:
                    known.extend(section)
                size += sum(map(len, map(_STORED, entries)))
            count += len(chunk)
            if count >= _SCAN_ENTRIES or size >= _SCAN_BYTES:
                yield from waiting.values()
                waiting.clear()
                size = count = 0
                self._environment.drop_pages()
        yield from waiting.values()


def _by_state(chunk: list[tuple[bytes, bytes]]) -> Iterator[tuple[int, list[tuple[bytes, bytes]]]]:
    """Split sorted entries where the state changes: entries of a key group and state are adjacent."""
    start = 0
    while start < len(chunk):
        state_id = state_id_of(chunk[start][0])
        stop = bisect_left(chunk, (range_after(chunk[start][0]),), start)
        yield state_id, chunk[start:stop]
        start = stop


class LmdbBackend(TrackedBackend):
    """See the module."""

    backend_type = "lmdb"
    cache_option = LMDB_CACHE_SIZE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._cache_bytes = self._size_option(self.cache_option)
        self._environment = self._open_environment(f"{self.backend_type}-{options['operator_id'][:24]}-{self._subtask}")
        self._tables: dict[str, _DiskTable] = {}
        self._stores: dict[int, DiskStore] = {}
        self._number = 0
        self._spare_buffers: list[PagedBuffer] = []
        self._spool: Spool | None = self._new_spool()
        self._mean_bytes = 64.0

    def _open_environment(self, name: str) -> DiskEnvironment:
        """Return the environment, in a separate directory whose name begins with ``name``."""
        return LmdbEnvironment(self._local_dir, name, self._size_option(LMDB_MAP_SIZE), self._size_option(LMDB_RESIDENT_SIZE))

    def _new_spool(self) -> Spool:
        return Spool(self._environment.path, self._cache_bytes // _SPOOL_SHARE, self._spare_buffers)

    def _size_option(self, option: ConfigOption[MemorySize]) -> int:
        value = self._options.get(option.key)
        size = option.default if value is None else option.parse(value)
        return 0 if size is None else size.bytes

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _open_table(self, name: str, storage: str) -> _DiskTable:
        table = self._tables.get(name)
        if table is None:
            kind = TABLES[storage]

            def make(spaced: bool) -> DiskStore:
                state_id = len(self._stores)
                codec = SlotCodec(state_id, spaced, self._range.max_parallelism)
                store = kind.store_type(name, spaced, codec, self._environment, self._next_number)
                self._stores[state_id] = store
                return store

            table = self._tables[name] = kind(self, make)
        return table

    def _rename_table(self, old: str, new: str) -> None:
        # In the order of the stores' numbers.
        self._tables = {new if name == old else name: table for name, table in self._tables.items()}
        table = self._tables[new]
        table.void.name = table.spaced.name = new

    def _set_pruning(self, name: str, prune: Callable[[Any], Any]) -> None:
        table = self._tables[name]
        table.void.prune = table.spaced.prune = prune

    # Cache

    def flush(self) -> None:
        """Write all pending changes to the environment and to the changelog."""
        out = Flush()
        for store in self._stores.values():
            if store.pending:
                store.flush(out)
        if not (out.entries or out.removed or out.removed_prefixes):
            return
        self._environment.write(out.removed, out.removed_prefixes, out.entries)
        size = sum(len(stored) for _, stored in out.entries)
        self._mean_bytes += (size / max(len(out.entries), 1) - self._mean_bytes) * 0.3
        self._keep_changes(out.sections)

    def _keep_changes(self, sections: Iterable[Section]) -> None:
        """Store changes for the next snapshot, unless writing all state would be smaller than the accumulated changes."""
        if self._spool is None:
            return
        for section in sections:
            self._spool.add(section)
        if self._spool.size > max(_MOST_SPOOLED * self._environment.size_bytes(), _SPOOL_BYTES):
            self._spool = None
            self._must_rewrite = True

    def make_room(self) -> None:
        """Flush, and start a new generation of cached objects."""
        self.flush()
        stores = self._stores.values()
        used = [store for store in stores if store.young or store.old]
        # Two generations share the cache; objects are larger than their pickles.
        limit = self._cache_bytes / (2 * (_OBJECT_OVERHEAD_BYTES + 3 * self._mean_bytes)) / max(len(used), 1)
        for store in stores:
            store.limit = max(int(limit), _SMALLEST_LIMIT)
            if store.weight() > store.limit:
                store.age()

    def slots(self, store: DiskStore) -> Iterator[Any]:
        """Iterate over the slots of a store that are on disk."""
        state_id = next(number for number, known in self._stores.items() if known is store)
        live = self._environment.live()
        group = self._range.start
        while group < self._range.end:
            first = self._environment.first_key(range_of(group, state_id))
            if first is None:
                return
            # Skip groups without an entry of this state.
            if state_id_of(first) != state_id:
                found = int.from_bytes(first[:2], "big")
                group = found if found > group and state_id_of(first) < state_id else found + 1
                continue
            group = int.from_bytes(first[:2], "big")
            last = b""
            for chunk in live.chunks(first, range_of(group, state_id + 1)):
                for key, stored in chunk:
                    prefix = key[: slot_end(key)]
                    if prefix != last:
                        last = prefix
                        yield store.slot_of(key, stored)
            group += 1

    # Snapshots

    def _freeze(self) -> tuple[int, list[Part]]:
        self.flush()
        spool, self._spool = self._spool, self._new_spool()
        return (0, []) if spool is None else (spool.entries, [spool])

    def _begin_rewrite(self) -> None:
        """Write all in one slice, as it is read in the background."""

    def _rewrite_slice(self, limit: int) -> tuple[list[Part], bool]:
        return self._all_parts(), True

    def _all_parts(self) -> list[Part]:
        self.flush()
        return [Scan(self._environment.snapshot(), dict(self._stores), self._environment)]

    def _apply(self, section: Section, storage: str, keep: Callable[[Any], bool] | None) -> None:
        table = self._open_table(section.name, storage)
        out = Flush()
        (table.spaced if section.spaced else table.void).apply(section, keep, out)
        self._environment.write(out.removed, out.removed_prefixes, out.entries)

    def _restored(self) -> None:
        """Do nothing: restored files are not recorded as changes."""

    def size_bytes(self) -> int:
        """See ``StateBackend``: pages in use on disk."""
        return self._environment.size_bytes() + 120 * sum(map(len, self._timers.values()))

    def close(self) -> None:
        """See ``StateBackend``."""
        self._environment.close()
        self._tables.clear()
        self._stores.clear()
        self._timers.clear()
